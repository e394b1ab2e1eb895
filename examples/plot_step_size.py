"""
Steps that are too small or too large
=====================================

Batch descent with constant steps of five sizes.
On the command line: ``linsep experiment step-size``.
"""

from linsep.views.experiments import find

found = find("step-size")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
