"""What can go wrong, as one small tree.

    LinsepError
    ├── DataError(ValueError)         rows, columns, labels or weights that cannot be used
    │   ├── OverflowedError           finite data whose size no float arithmetic can carry
    │   └── KindError(TypeError)      rows or entries of a kind that holds no numbers
    ├── ParameterError(ValueError)    a parameter that no fit could honour
    │   └── UnknownParameterError(TypeError)    a name that no parameter has
    ├── StorageError(OSError)         a file that could not be written, or is not what was written
    ├── ClusterError(RuntimeError)    a cluster that is not there, or not able to do what is asked
    └── ModelFileError(ValueError)    a model file that is damaged, foreign or not valid in itself

Every message names what was found, what was wanted and the next step.
A bad *ending* is not an error: it is a `linsep.Status`, told once as a `NotConverged` warning,
which is scikit-learn's `ConvergenceWarning` too.
"""

from typing import TYPE_CHECKING, Any


class LinsepError(Exception):
    """The root: `except LinsepError` catches whatever linsep raises on purpose."""


class DataError(LinsepError, ValueError):
    """Rows, columns, labels or weights that cannot be used as they are."""


class OverflowedError(DataError):
    """The data are finite, but their size drove the arithmetic beyond the range of floats."""


class KindError(DataError, TypeError):
    """Rows, or entries of rows, of a kind that holds no numbers; a TypeError too, as in NumPy."""


class ParameterError(LinsepError, ValueError):
    """A parameter that no fit could honour."""


class UnknownParameterError(ParameterError, TypeError):
    """A name that is none of the learner's parameters; a TypeError too, as for any function."""


class StorageError(LinsepError, OSError):
    """A file that could not be written, or that does not hold what was once written to it."""


class ClusterError(LinsepError, RuntimeError):
    """A cluster that does not answer, has other versions, or lost its scheduler."""


class ClusterNote(UserWarning):
    """Something about a fit on a cluster that its user should know; the result is right."""


class ModelFileError(LinsepError, ValueError):
    """A model file that is damaged, of another format, or contradicts itself."""


if TYPE_CHECKING:

    class NotConverged(UserWarning):
        """A fit ended without reaching what was asked; the message is its status."""

else:

    def __getattr__(name: str) -> Any:
        """`NotConverged`, made on first use: its base brings in scikit-learn."""
        if name != "NotConverged":
            raise AttributeError(f"module 'linsep.errors' has no attribute {name!r}")
        from sklearn.exceptions import ConvergenceWarning

        doc = "A fit ended without reaching what was asked; the message is its status."
        about = {"__doc__": doc, "__module__": __name__}
        return globals().setdefault(name, type(name, (ConvergenceWarning,), about))
