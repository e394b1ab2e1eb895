"""
Logic gates as threshold units
==============================

One weighted sum and one threshold are enough for AND, OR, NAND and NOR; a layer of four learns
them at once. Exclusive or is out of reach for one unit, and within reach of two layers.
On the command line: ``linsep experiment gates``.
"""

from linsep.views.experiments import find

found = find("gates")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
