"""What a notebook shows of a learner: its parameters, and once it is fitted how that ended."""

from html import escape
from typing import Any


class NotebookView:
    """Adds status and proof to what scikit-learn shows."""

    def _html_repr(self) -> str:
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self)) + ending_html(self)

    def _repr_html_inner(self) -> str:
        return self._html_repr()


def ending_html(learner: Any) -> str:
    """How a fit ended and what is proved of it; nothing before the fit."""
    inner = getattr(learner, "learner_", learner)
    status = getattr(inner, "status_", None)
    if status is None:
        return ""
    colour = "#007a5a" if status.good else "#a34700"
    lines = [f'<strong style="color:{colour}">{escape(status.value)}</strong>']
    diagnosis = getattr(inner, "diagnosis_", None)
    if diagnosis and diagnosis != status.value:
        lines.append(escape(str(diagnosis)))
    proof = proof_sentence(learner)
    if proof:
        lines.append(f"Proved: {escape(proof)}")
    passes = getattr(inner, "n_iter_", None)
    if isinstance(passes, int):
        lines.append(f"{passes:,} pass{'' if passes == 1 else 'es'}.")
    style = "border-left:4px solid;padding:0.2em 0.8em;margin:0.4em 0;max-width:60em"
    said = "".join(f"<div>{line}</div>" for line in lines)
    return f'<div class="linsep-ending" style="{style};border-color:{colour}">{said}</div>'


def proof_sentence(learner: Any) -> str | None:
    """What is known for certain of a fit, in a sentence; None where nothing was proved."""
    learner = getattr(learner, "learner_", learner)
    proof = getattr(learner, "proof_", None)
    if proof is not None:
        return str(proof.verdict)
    gap = getattr(learner, "gap_", None)
    if gap is not None:
        return (
            f"the objective is at most a share of {gap:.1e} above the least possible, by the "
            "duality gap computed from the data."
        )
    if learner.status_.name == "separated":
        return "the last pass found every row strictly on its own side, so a separator exists."
    return None
