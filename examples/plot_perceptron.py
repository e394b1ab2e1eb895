"""
The perceptron by hand
======================

The lectures' worked examples: eight points that one batch step sorts out, and three points that
take thirteen single corrections.
On the command line: ``linsep experiment perceptron``.
"""

from linsep.views.experiments import find

found = find("perceptron")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
