"""
Which separator should decide?
==============================

On classes that overlap, a perceptron run passes through hundreds of separators. The last one is a
matter of luck; the average and the vote are not.
On the command line: ``linsep experiment voted``.
"""

from linsep.views.experiments import find

found = find("voted")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
