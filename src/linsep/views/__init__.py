"""What people see: the command line, pictures, films, reports, the lab.

Commands (`cli`) read data by `arguments` and `sources`, and count with `metrics`, `figures`,
`scoring` and `validation`; `fit_account` tells of a fit, `table_findings` of a table before it.
`plots`, `film` and `report` draw on `scene`; `lab` and `player` are the page that plays runs;
`experiments` measure the lectures' claims (`findings`, `digits`, `data_sets`).
"""
