"""What people see: the command line, pictures, films, reports, the lab.

Commands (`cli`) read data by `arguments` and `sources`, and count with `metrics`, `figures`,
`scoring` and `validation`; `table_findings` judges a table before a fit. `plots`, `film` and
`report` draw on `scene`; `lab` and `player` are the page that plays runs; `experiments` measure
the lectures' claims (`findings`, `digits`, `data_sets`).
"""
