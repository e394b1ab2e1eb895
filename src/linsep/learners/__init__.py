"""The scikit-learn face; one file per algorithm.

`base` is the one base class, `fitting` the frame of every fit, `parameters` and `sklearn_compat`
what its arguments may be. The convex learners stand here beside what they share (`certificates`,
`diagnosis`, `first_order`, `warm_starts`, ...); the others have rooms: `perceptrons`,
`discriminants`, `compose` (learners made of learners) and `model_selection`.
"""

from linsep import _lean as _lean
