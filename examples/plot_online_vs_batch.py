"""
Online, minibatch and batch corrections
=======================================

The same rule applied row by row, in minibatches and in whole passes; and the online rule again for
twenty orders of the same rows.
On the command line: ``linsep experiment online-vs-batch``.
"""

from linsep.views.experiments import find

found = find("online-vs-batch")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
