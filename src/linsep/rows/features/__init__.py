"""Features made from features, as scikit-learn transformers: what a hyperplane cannot see in the
rows as they are, it may see in their products, their distances or their edges.
"""

from linsep import _lean as _lean
