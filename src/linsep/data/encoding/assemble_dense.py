"""Columns of a table turned into dense rows, in compiled code.

A column is known by the address of its cells. `maps` says of each what they are: FLOATS, WHOLE or
LONG, numbers of float64, int32 or int64; or else codes of texts as int32, and it is the address of
the features by code, as int32 with -1 for none.
"""

from linsep._compile import bits_at, code_at, fetch_at, number_at, strict

FLOATS, WHOLE, LONG = 0, 1, 2
TILE = 32  # rows turned together: what is written stays in the first cache
LINE = 8  # numbers in a cache line
EXPONENT = 0x7FF0000000000000  # all ones in NaN and infinities alone


@strict
def turn(cells, maps, firsts, fills, odd, X):  # type: ignore[no-untyped-def]
    """Columns as dense rows X; gaps become `fills`.

    oddⱼ = 1 says that column j has a NaN or an infinity. The features of column j begin at
    firstsⱼ; of a column of texts one of them is 1, the others are 0.
    """
    n, width = X.shape
    columns = len(cells)
    texts = 0
    for j in range(columns):
        texts += 1 if maps[j] > LONG else 0
    for begin in range(0, n, TILE):
        end = min(n, begin + TILE)
        if texts > 0:
            for i in range(begin, end):
                for k in range(width):
                    X[i, k] = 0.0
        for j in range(columns):
            at, known, first = cells[j], maps[j], firsts[j]
            if known == WHOLE:
                for i in range(begin, end):
                    X[i, first] = code_at(at, i)
            elif known == LONG:
                for i in range(begin, end):
                    X[i, first] = bits_at(at, i)
            elif known > LONG:
                for i in range(begin, end):
                    code = code_at(at, i)
                    place = code_at(known, code) if code >= 0 else -1
                    if place >= 0:
                        X[i, first + place] = 1.0
            else:
                for i in range(end, min(n, end + TILE), LINE):  # the next tile of this column
                    fetch_at(at + 8 * i)
                seen = 0
                for i in range(begin, end):
                    seen = max(seen, bits_at(at, i) & EXPONENT)
                odd[j] = odd[j] if seen < EXPONENT else 1
                for i in range(begin, end):
                    x = number_at(at, i)
                    X[i, first] = x if x == x else fills[j]
    return 0
