"""Descent on the dual of Crammer and Singer's machine.

`crammer_singer` visits all classes of a row (its walks in `sweep`, larger steps in `face`),
`listed_descent` those that are on its list (its walks in `listed_sweep`).
"""
