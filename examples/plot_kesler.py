"""
Three classes: one against the rest, and Kesler's construct
===========================================================

One class against the rest leaves regions that belong to no class, or to several. Kesler's
construct asks each class to beat every other one, and leaves no such region.
On the command line: ``linsep experiment kesler``.
"""

from linsep.views.experiments import find

found = find("kesler")
print(found)

# %%
# Every claim above was tested on the numbers just measured. The picture:

import matplotlib.pyplot as plt

found.draw(plt.figure(figsize=found.size, layout="constrained"))
plt.show()
