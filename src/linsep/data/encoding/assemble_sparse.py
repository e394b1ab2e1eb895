"""Columns of a table turned into sparse rows, in compiled code: as in `assemble_dense`."""

from linsep._compile import bits_at, code_at, number_at, strict
from linsep.data.encoding.assemble_dense import LONG, WHOLE


@strict
def thin(cells, maps, firsts, fills, odd, values, places, ends):  # type: ignore[no-untyped-def]
    """Columns as sparse rows, as `turn`; endsᵢ is where row i ends. Returns the entries."""
    entry = 0
    for i in range(len(ends)):
        for j in range(len(cells)):
            if maps[j] > LONG:
                code = code_at(cells[j], i)
                place = code_at(maps[j], code) if code >= 0 else -1
                if place >= 0:
                    values[entry] = 1.0
                    places[entry] = firsts[j] + place
                    entry += 1
                continue
            if maps[j] == WHOLE:
                x = float(code_at(cells[j], i))
            elif maps[j] == LONG:
                x = float(bits_at(cells[j], i))
            else:
                x = number_at(cells[j], i)
            if not abs(x) < float("inf"):
                odd[j] = 1
                x = x if x == x else fills[j]
            values[entry] = x
            places[entry] = firsts[j]
            entry += 1
        ends[i] = entry
    return entry
