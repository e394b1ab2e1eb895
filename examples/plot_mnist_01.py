"""
Zeros against ones
==================

The epoch table of the first lecture, on built-in digits here and on MNIST with
``linsep experiment mnist-01 --data FOLDER``, with the certified bound on all corrections.
On the command line: ``linsep experiment mnist-01``.
"""

from linsep.views.experiments import find

found = find("mnist-01")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
