"""Reports: what a model is, how well it does, and what is proved, on one page.

`parts` decides which rows judge the model and `pipelines` which learner is looked at; `findings`
gathers plain values: `coefficients`, `columns`, `curves`, `thresholds`, the `worst` rows, how to
`reproduce` them all. `pictures` draws them and `page` writes the HTML.
"""

from pathlib import Path
from typing import Any

from linsep._arguments import path_of
from linsep.data.files.atomic import replace
from linsep.errors import ParameterError

__all__ = ["report"]


def report(
    model: Any, X: Any, y: Any, path: str | Path, *, test: Any = None, holdout: float | None = None
) -> Path:
    """Write one page about a fitted model and how it does.

    The figures are of rows that the model has not seen, where there are some: of `test`, or of a
    part of the rows that is held out and judged by a fit to the others. Those of the rows of the
    fit stand beside them and are called so.

    On the page: accuracy, areas and losses with intervals, beside those of always saying the
    most frequent class; precision, recall and F1 of each class; the confusion matrix; ROC,
    precision and recall, and calibration; what each threshold finds and costs; weights in the
    units of the data, for one standard deviation, and as odds ratios; the rows it is most wrong
    about; the features in a few numbers; what is proved; and how to get the same numbers
    again. The page holds its pictures and asks for nothing from elsewhere.

    Parameters
    ----------
    model : fitted learner, pipeline or search that ends in one, or what `linsep.load` gives
        Of a pipeline the page is about its last step, on rows as the steps before it prepare them.
    X, y : rows and labels
        Those it was trained on, or others; the digest that the fit has noted tells which.
    path : str or Path
        Where to write, ending in .html.
    test : (X_test, y_test), optional
        Rows that the model has not seen.
    holdout : float, optional
        The share of X to hold out. By default 0.2 where X are the rows of the fit, there is no
        `test`, and a second fit is cheap; 0 for none.

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
    ...     "Training rows: 0.00% of 8 rows wrong" in path.read_text("utf-8")
    True
    """
    return write_report(path, model, X, y, test=test, holdout=holdout)


def write_report(path: str | Path, model: Any, X: Any, y: Any, **more: Any) -> Path:
    """The same; `more` also takes `refit`, `command` and `source` of `find`."""
    from linsep.views.report.findings import find
    from linsep.views.report.page import report_page

    path = path_of("path", path)
    if path.suffix.lower() != ".html":
        raise ParameterError(f"path is {str(path)!r}; a report ends in .html.")
    replace(path, [report_page(find(model, X, y, **more)).encode()])
    return path
