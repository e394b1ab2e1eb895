"""
The radius as a feature
=======================

A disc inside a ring: the votes of the nearest neighbours in the plane, and in the squared radius.
On the command line: ``linsep experiment radial``.
"""

from linsep.views.experiments import find

found = find("radial")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
