"""
Four ways to fit a line
=======================

The weight of people from their height: the exact solution, and batch, minibatch and single-row
descent, all in kilograms and centimetres.
On the command line: ``linsep experiment regression``.
"""

from linsep.views.experiments import find

found = find("regression")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
