"""
Local minima
============

A network of two hidden units from random starts, by batches and row by row.
On the command line: ``linsep experiment local-minima``.
"""

from linsep.views.experiments import find

found = find("local-minima")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
