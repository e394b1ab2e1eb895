"""
Three classes and the land between
==================================

Each class against the rest leaves parts of the plane to nobody, or to several. Kesler's construct
asks every class to beat every other, and leaves none.
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
