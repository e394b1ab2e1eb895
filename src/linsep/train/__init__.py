"""Training: rules and solvers that move a hyperplane.

`problem` is rows, classes and weights in fixed blocks; `order` the order of presentation. `run` is
the loop every iterative fit goes through; `online` and `voted` the perceptron family; `convex` the
penalised losses, each with a duality gap; `closed` what has a closed form.
"""
