"""Every learner on every ordinary set, side by side with its peers, at the same objective.

    python -m benchmarks grid                       all cells, some hours
    python -m benchmarks grid --sets iris,a9a --learners logistic,hinge --seconds 20 --orders 3

`sets` and `made` hold the data, `learners` the problems and the neutral objective, `peers` the
other systems, `cell` what one process runs, `judge` who came near enough and how fast, `table` and
`picture` what is shown, `run` the command.
"""

from benchmarks.grid.run import main, rows

__all__ = ["main", "rows"]
