"""Films: a recorded run as one page that plays it, or as moving pictures.

`story` turns a run into values, with what is certain of it (`facts`); `page` puts them, the
player and its scripts (without comments, by `shrink`) into one file; `animation` draws pictures.
"""

from pathlib import Path
from typing import Any, NamedTuple

from linsep._arguments import path_of
from linsep.data.files.atomic import replace
from linsep.errors import ParameterError
from linsep.views.scene.run import open_run

__all__ = ["film"]


class Film(NamedTuple):
    """A film that was made.

    Attributes
    ----------
    path : the file
    format : 'html' or 'gif'
    size : bytes of the file
    frames : moments shown, the start and the model returned included
    corrections : how many the run made
    rows : how many it was made on
    """

    path: Path
    format: str
    size: int
    frames: int
    corrections: int
    rows: int


def film(trace: Any, path: str | Path, X: Any = None, y: Any = None) -> Film:
    """Show a run as it was: every correction in the space of rows and in the space of weights.

    A page (`.html`) is one file with the player inside; it asks for nothing from elsewhere and can
    be stepped, played and scrubbed, by keyboard too. It says of each correction which row asked for
    it and with what numbers, how many rows are wrong, whether a separator exists (proved), and how
    many mistakes there can be at most. A moving picture (`.gif`) shows the same without words.

    The last frame is the model that the fit returned. Where this is not what the last correction
    led to (an average, a pocket, the best pass of a descent), it is a frame of its own and says so.

    Two features are drawn as they are. More are projected on the direction of the last weights and
    the largest spread across it, which the page says. The space of weights is drawn whole where it
    has two dimensions, else as the slice through the present weights.

    Parameters
    ----------
    trace : Trace
        `learner.trace_` of a fit with trace=True, or one read by
        `linsep.train.run.trace.Trace.load`. Up to 2,000 of its corrections are shown, 600 with more
        than two features.
    path : str or Path
        Where to write; the suffix, .html or .gif, says what.
    X, y : optional
        The rows of the fit, where the trace holds only a sample of them.

    Returns
    -------
    Film
        Its `path`, `format`, `size`, `frames`, `corrections` and `rows`.

    Examples
    --------
    >>> import linsep, tempfile
    >>> from linsep.data.toys import three_points
    >>> X, y = three_points()
    >>> learner = linsep.Perceptron(shuffle=False, trace=True).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = linsep.film(learner.trace_, Path(folder) / "run.html")
    ...     page = made.path.read_text("utf-8")
    >>> made.format, made.frames, made.corrections
    ('html', 14, 13)
    >>> "Content-Security-Policy" in page
    True
    """
    path = path_of("path", path)
    kind = path.suffix.lower()
    if kind not in (".html", ".gif"):
        raise ParameterError(f"path is {str(path)!r}; a film ends in .html or .gif.")
    if kind == ".gif":
        from linsep.views.film.animation import FRAMES, animate

        run = open_run(trace, X, y, FRAMES)
        size = animate(run, path)
    else:
        from linsep.views.film.page import film_page
        from linsep.views.film.story import story_of

        run = open_run(trace, X, y)
        size = replace(path, [film_page(story_of(run)).encode()])
    frames, count = len(run.W), run.trace.count
    return Film(path, kind[1:], size, frames, count, run.rows.total)
