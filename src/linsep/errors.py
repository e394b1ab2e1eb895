"""What can go wrong, as one small tree.

    LinsepError
    ├── DataError(ValueError)         rows, columns, labels or weights that cannot be used
    │   └── OverflowedError           finite data whose size no float arithmetic can carry
    ├── ParameterError(ValueError)    a parameter that no fit could honour
    ├── StorageError(OSError)         a file that could not be written, or is not what was written
    ├── ModelFileError(ValueError)    a model file that is damaged, foreign or not valid in itself
    └── NotConverged(UserWarning)     a fit ended without what was asked; its Status says why

Every message names what was found, what was wanted and the next step.
A bad *ending* is not an error: it is a `linsep.Status`, told once as a `NotConverged` warning.
"""


class LinsepError(Exception):
    """The root: `except LinsepError` catches whatever linsep raises on purpose."""


class DataError(LinsepError, ValueError):
    """Rows, columns, labels or weights that cannot be used as they are."""


class OverflowedError(DataError):
    """The data are finite, but their size drove the arithmetic beyond the range of floats."""


class ParameterError(LinsepError, ValueError):
    """A parameter that no fit could honour."""


class StorageError(LinsepError, OSError):
    """A file that could not be written, or that does not hold what was once written to it."""


class ModelFileError(LinsepError, ValueError):
    """A model file that is damaged, of another format, or contradicts itself."""


class NotConverged(UserWarning):
    """A fit ended without reaching what was asked; the message is its status."""
