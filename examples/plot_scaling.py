"""
Features of very different size
===============================

A feature in euros hides one in years. Scaling inside the fit repairs that, and the weights are
in euros and years again.
On the command line: ``linsep experiment scaling``.
"""

from linsep.views.experiments import find

found = find("scaling")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
