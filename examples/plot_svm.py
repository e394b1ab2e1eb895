"""
A few rows determine the widest margin
======================================

A support vector machine is determined by the rows on its margin, and noise disturbs it less than
the first separator that a perceptron finds.
On the command line: ``linsep experiment svm``.
"""

from linsep.views.experiments import find

found = find("svm")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
