"""The kernel that looks at the two ends of svmlight lines, and passes over what is between them."""

import numpy as np

from linsep._compile import strict
from linsep.data.svmlight.decimals import OK, decimal, digits

# What is found: rows, the least and the largest index; -1 for rows where it cannot be told.
ROWS, LEAST, MOST = range(3)

_ONE, _EIGHT = np.uint64(1), np.uint64(8)


@strict
def look(text, words, first, end, begins, labels, starts, summary, bits, floats):  # type: ignore[no-untyped-def]
    """Labels and places of the lines that begin in text[first:end], and the indices at their ends.

    Indices rise along a line, so the first and the last tell the least and the largest. Lines that
    end there count for the last one. `begins` tells whether a line begins at `first`. A newline is
    at text[end - 1] of a file's last bytes, and 24 follow whatever the text holds. `words`, `bits`
    and `floats` are as in `parse`. summary[ROWS] is −1 where a line is not plainly label and pairs.
    """
    i, row = np.uint64(first), 0
    stop = np.uint64(end)
    least, most = summary[LEAST], summary[MOST]
    start = begins
    while i < stop:
        if start:
            p = i
            while text[p] == 32 or text[p] == 9:
                p += _ONE
            if text[p] != 10:
                kind, p = decimal(text, words, p, bits, floats)
                if kind != OK or text[p] > 32:
                    summary[ROWS] = -1
                    return
                labels[row], starts[row] = floats[0], i
                row += 1
                while text[p] == 32 or text[p] == 9:
                    p += _ONE
                if text[p] != 10:
                    run, count = digits(words, p)
                    p += count
                    if count == 0 or count == _EIGHT or text[p] != 58:
                        summary[ROWS] = -1
                        return
                    least = min(least, np.int64(run))
        while i + np.uint64(64) <= stop:
            ends = np.uint8(0)
            for k in range(64):
                ends |= np.uint8(text[i + np.uint64(k)] == 10)
            if ends != 0:
                break
            i += np.uint64(64)
        while i < stop and text[i] != 10:
            i += _ONE
        if i == stop:
            break
        index = last_index(text, words, np.int64(i) - 1)
        if index < -1:
            summary[ROWS] = -1
            return
        most = max(most, index)
        i += _ONE
        start = True
    summary[ROWS], summary[LEAST], summary[MOST] = row, least, most


@strict
def last_index(text, words, j):  # type: ignore[no-untyped-def]
    """The index of the pair that ends at text[j]: −1 for a line without, −2 if that is not told."""
    while j >= 0 and (text[j] == 32 or text[j] == 9 or text[j] == 13):
        j -= 1
    stop = j
    while j >= 0 and text[j] != 32 and text[j] != 9 and text[j] != 10:
        j -= 1
    if j < 0:
        return -2
    if text[j] == 10 or j == stop:
        return -1
    run, count = digits(words, np.uint64(j + 1))
    if count == 0 or count == _EIGHT or text[np.uint64(j + 1) + count] != 58:
        return -2
    return np.int64(run)
