"""
A feature that keeps the answer
===============================

Neighbours in the plane and neighbours in the squared radius vote on a disc in a ring.
On the command line: ``linsep experiment radial``.
"""

from linsep.views.experiments import find

found = find("radial")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
