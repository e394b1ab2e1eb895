"""Reports: what a model is, how well it does, and what is proved, on one page."""

from pathlib import Path
from typing import Any

from linsep.data.files.atomic import replace
from linsep.errors import ParameterError

__all__ = ["report"]


def report(model: Any, X: Any, y: Any, path: str | Path) -> Path:
    """Write one page about a fitted model and how it does on these rows.

    What was fitted and how it ended; what is proved (a separator or why there is none, and the
    duality gap where the learner has one); errors beside those of always saying the commonest
    class; the confusion matrix; weights, largest first; how the scores of the classes are spread,
    and for two classes the ROC curve and, where there are probabilities, whether they can be
    relied on. With two features, the picture of the plane. The page holds its pictures and asks
    for nothing from elsewhere.

    Parameters
    ----------
    model : fitted learner, pipeline or search that ends in one, or what `linsep.load` gives
        Of a pipeline the page is about its last step, on rows as the steps before it prepare them.
    X, y : rows and labels
        Those it was trained on, or others; the page cannot know and says which number there were.
    path : str or Path
        Where to write, ending in .html.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import linsep, tempfile
    >>> from linsep.data.toys import two_groups
    >>> X, y = two_groups()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = linsep.report(linsep.LinearSVC().fit(X, y), X, y, f"{folder}/report.html")
    ...     "0.00% of 8 rows wrong" in path.read_text("utf-8")
    True
    """
    from linsep.views.report.findings import find
    from linsep.views.report.page import report_page

    path = Path(path)
    if path.suffix.lower() != ".html":
        raise ParameterError(f"path is {str(path)!r}; a report ends in .html.")
    replace(path, [report_page(find(model, X, y)).encode()])
    return path
