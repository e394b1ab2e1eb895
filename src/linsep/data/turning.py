"""Columns of a table turned into dense rows, in compiled code.

A column is known by the address of its cells: float64, or int32 codes of texts. `maps` has for each
column of texts the address of its features by code, as int32 with -1 for none, and 0 for numbers.
"""

from linsep._compile import bits_at, code_at, exact, number_at

TILE = 64  # rows turned together: what is written stays in the first cache
EXPONENT = 0x7FF0000000000000  # all ones in NaN and infinities alone


@exact
def turn(cells, maps, firsts, fills, odd, X):  # type: ignore[no-untyped-def]
    """Columns as dense rows X; gaps become `fills`.

    oddⱼ = 1 says that column j has a NaN or an infinity. The features of column j begin at
    firstsⱼ; of a column of texts one of them is 1, the others are 0.
    """
    n, width = X.shape
    columns = len(cells)
    texts = 0
    for j in range(columns):
        texts += 1 if maps[j] != 0 else 0
    for begin in range(0, n, TILE):
        end = min(n, begin + TILE)
        if texts > 0:
            for i in range(begin, end):
                for k in range(width):
                    X[i, k] = 0.0
        for j in range(columns):
            at, known, first = cells[j], maps[j], firsts[j]
            if known != 0:
                for i in range(begin, end):
                    code = code_at(at, i)
                    place = code_at(known, code) if code >= 0 else -1
                    if place >= 0:
                        X[i, first + place] = 1.0
                continue
            seen = 0
            for i in range(begin, end):
                seen = max(seen, bits_at(at, i) & EXPONENT)
            if seen < EXPONENT:
                for i in range(begin, end):
                    X[i, first] = number_at(at, i)
            else:
                odd[j] = 1
                for i in range(begin, end):
                    x = number_at(at, i)
                    X[i, first] = x if x == x else fills[j]
    return 0
