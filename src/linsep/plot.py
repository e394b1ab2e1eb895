"""`import linsep.plot` and `linsep.plot` are the pictures of `linsep.views.plots`."""

import sys

from linsep.views import plots

sys.modules[__name__] = plots
