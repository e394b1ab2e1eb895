"""scikit-learn without what it brings along and linsep never asks of it: 70 MB and a second.

To import `sklearn.base` is to import pandas, if it is there, and `scipy.stats`, each for a function
that linsep does not call. Both are out of sight for the time of that one import. Nothing is taken
from anybody: whoever imports them gets them, before or after, and `scipy.stats` loads itself where
scikit-learn looks into it.
"""

import sys
from types import ModuleType

from linsep import _face
from linsep import _scipy as _scipy

_OUT_OF_SIGHT = {
    "pandas": None,  # to import it is an ImportError, which scikit-learn expects
    "scipy.stats": ModuleType("scipy.stats"),
}


def _import_base() -> None:
    hidden = {name: stub for name, stub in _OUT_OF_SIGHT.items() if name not in sys.modules}
    sys.modules.update(hidden)  # type: ignore[arg-type]
    try:
        import sklearn.base  # noqa: F401
    finally:
        for name in hidden:
            del sys.modules[name]


if "sklearn" not in sys.modules and not _face.alone:
    _import_base()
