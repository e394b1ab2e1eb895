"""
Two ways to one sigmoid
========================

Gaussians with a shared covariance lead to a sigmoid of a linear function in closed form; logistic
regression finds the same sigmoid without the Gaussians.
On the command line: ``linsep experiment lda-logistic``.
"""

from linsep.views.experiments import find

found = find("lda-logistic")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
