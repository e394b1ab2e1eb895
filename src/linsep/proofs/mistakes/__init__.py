"""How many mistakes: Novikoff's bound for a perceptron, and the fewest any plane can make.

`margin` measures distances, `mistake_bound` has Novikoff's theorem; `fewest` encloses the smallest
number of mistakes between a plane found (`local_search`, `cells`, and `central` through the origin)
and a lower bound (`hitting_set`), which `search` brings together.
"""
