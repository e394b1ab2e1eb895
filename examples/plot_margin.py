"""
A wider margin, fewer corrections
=================================

The perceptron needs fewer corrections the further apart the classes are, and never more than
Novikoff's bound.
On the command line: ``linsep experiment margin``.
"""

from linsep.views.experiments import find

found = find("margin")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
