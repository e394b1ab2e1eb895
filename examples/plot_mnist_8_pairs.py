"""
Eights, and products of pixels
==============================

Random products of two pixels give a linear classifier the capacity it lacks. They are made in
blocks: sixty thousand images with ten thousand products each never exist at once.
On the command line: ``linsep experiment mnist-8-pairs``.
"""

from linsep.views.experiments import find

found = find("mnist-8-pairs")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
