"""
Bias, variance and the degree of a polynomial
=============================================

Fits to many draws of a noisy sine, split into what is wrong on average and what changes from draw
to draw, beside the closed form of both.
On the command line: ``linsep experiment bias-variance``.
"""

from linsep.views.experiments import find

found = find("bias-variance")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
