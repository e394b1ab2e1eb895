"""
Edges instead of pixels
=======================

Histograms of oriented gradients keep their meaning when a digit is moved, dimmed or inverted;
pixels do not.
On the command line: ``linsep experiment hog``.
"""

from linsep.views.experiments import find

found = find("hog")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
