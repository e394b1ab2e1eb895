"""
Fisher's discriminant by hand
=============================

The direction along which two classes lie furthest apart for the scatter they have, on eight points
whose scatter matrix fits on a napkin.
On the command line: ``linsep experiment fisher``.
"""

from linsep.views.experiments import find

found = find("fisher")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
