"""scikit-learn without what it brings along and linsep never asks of it: 70 MB and a second.

To import `sklearn.base` is to import pandas, if it is there, and `scipy.stats`, each for a function
that linsep's command does not call. In a process that is the command both are out of sight for the
time of that one import; in any other, scikit-learn is imported as its users import it.
"""

import sys

from linsep import _face, _trim
from linsep import _scipy as _scipy

if _face.own_process and not _face.alone and "sklearn" not in sys.modules:
    _trim.import_without("sklearn.base", unused=("scipy.stats",), absent=("pandas",))
