"""
Exclusive or, three ways
========================

No line separates the four rows, and a certificate of four equal weights proves it. One product
more, or one layer more, and the question is easy.
On the command line: ``linsep experiment xor``.
"""

from linsep.views.experiments import find

found = find("xor")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
