"""The scikit-learn face; one file per algorithm.

`base` is the one base class, on the frame of every fit in `fitting`. The convex learners stand
here (`logistic`, `svm`, `regression`, `kernel_svc`, each with its parts beside it); the others have
rooms: `perceptrons`, `discriminants`, `compose` (learners made of learners), `model_selection`,
`inference` (what a fit says of its coefficients) and `cluster` (fits whose rows lie elsewhere).
"""
