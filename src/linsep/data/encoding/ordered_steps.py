"""Ordered categories as steps: a column for each category but the lowest, 1 from there on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linsep.data.table.memory import columns_of, is_table
from linsep.errors import DataError, ParameterError


def ordered_steps(table: Any, orders: Mapping[str, Sequence[Any] | None]) -> Any:
    """Columns of ordered categories as steps, in the place of the columns.

    The category k of `name` becomes the columns "name>=b", "name>=c", ..., which are 1 where the
    category is at least that. Their weights are the differences between neighbouring categories, so
    that bounds={"name": "positive"} makes the effect rise (or stay) from each category to the next,
    "negative" makes it fall, and a pair bounds each difference. The penalty is on differences, too.

    Parameters
    ----------
    table : a frame of pandas or another library, a dict of columns, or a list of records
    orders : categories of each column from the lowest to the highest, by name; None for those of an
        ordered column of pandas

    Returns
    -------
    a frame of pandas where the table was one, otherwise a dict of columns

    Examples
    --------
    >>> steps = ordered_steps({"grade": ["b", "a", "c"], "x": [1, 2, 3]}, {"grade": "abc"})
    >>> {name: list(map(int, cells)) for name, cells in steps.items()}
    {'grade>=b': [1, 0, 1], 'grade>=c': [0, 0, 1], 'x': [1, 2, 3]}
    """
    if not is_table(table):
        raise DataError(f"table is {type(table).__name__}; give a frame or a dict of columns.")
    columns, made = columns_of(table), {}
    unknown = [name for name in orders if name not in columns]
    if unknown:
        raise ParameterError(
            f"orders names {unknown[0]!r}, which is no column; there are {', '.join(columns)}."
        )
    for name, cells in columns.items():
        if name not in orders:
            made[name] = cells
            continue
        order: Any = orders[name]
        if order is None:
            kind: Any = getattr(cells, "dtype", None)
            if not getattr(kind, "ordered", False):
                raise ParameterError(f"{name!r} has no order of its own; list its categories.")
            order = kind.categories
        places = {category: k for k, category in enumerate(order)}
        given = list(cells)
        stray = [cell for cell in given if cell not in places]
        if stray:
            raise DataError(
                f"{name!r} holds {stray[0]!r}, which is none of {', '.join(map(str, places))}."
            )
        at = np.array([places[cell] for cell in given], np.float64)
        made |= {f"{name}>={one}": (at >= k).astype(float) for one, k in places.items() if k}
    if not hasattr(table, "assign"):
        return made
    return type(table)({name: np.asarray(cells) for name, cells in made.items()}, index=table.index)
