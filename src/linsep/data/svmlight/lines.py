"""The kernel that reads lines of `label index:value …`."""

import numpy as np

from linsep._compile import strict
from linsep.data.svmlight.decimals import BAD, HARD, SHIFTS, decimal, digits
from linsep.data.svmlight.parser import (
    AT,
    END,
    ENTRY,
    FINE,
    LARGE_INDEX,
    LARGEST,
    LEAST,
    LINE,
    MOST,
    NO_INDEX,
    NO_LABEL,
    NO_PAIR,
    NO_VALUE,
    NOT_RISING,
    QUERIES,
    ROW,
    TOUGH,
    WRONG,
)  # fmt: skip

_ONE, _TWO, _THREE, _EIGHT = (np.uint64(number) for number in (1, 2, 3, 8))


@strict
def parse(text, words, state, labels, ends, places, values, tough, bits, floats):  # type: ignore[no-untyped-def]
    """Read rows from text[state[AT] : state[END]]; returns FINE, or what is wrong at state[WRONG].

    The rows end with a newline; sixteen bytes or more follow. `words` is the memory of `text` in
    eights, `bits` and `floats` are room for one number. Row r has the entries up to ends[r].
    Numbers whose rounding is left to Python are noted in `tough` as (entry, or −1 − row for a
    label; first byte; last byte + 1). After an error, state[AT] is the start of its line,
    state[LINE] its number from 0, and what the line has given so far does not count.
    """
    i, n = np.uint64(state[AT]), np.uint64(state[END])
    line, row, entry, hard = state[LINE], state[ROW], state[ENTRY], state[TOUGH]
    least, most, queries = state[LEAST], state[MOST], state[QUERIES]
    wrong = FINE
    begin, start, kept, found_queries = i, i, hard, queries
    while i < n:
        begin, kept, found_queries = i, hard, queries
        while text[i] == 32 or text[i] == 9:
            i += _ONE
        if not (text[i] == 10 or text[i] == 13 or text[i] == 35):
            start = i
            kind, i = decimal(text, words, i, bits, floats)
            if kind == BAD or not (text[i] <= 32 or text[i] == 35):
                wrong = NO_LABEL
                break
            labels[row] = floats[0]
            if kind == HARD:
                tough[hard, 0], tough[hard, 1], tough[hard, 2] = -1 - row, start, i
                hard += 1
            last, e = -1, entry
            while True:
                while text[i] == 32 or text[i] == 9:
                    i += _ONE
                if text[i] == 10 or text[i] == 13 or text[i] == 35:
                    break
                start = i
                if text[i] == 113 and text[i + _ONE] == 105 and text[i + _TWO] == 100:  # q i d
                    i += _THREE
                    queries += 1
                    if text[i] != 58:
                        wrong = NO_PAIR
                        break
                    i += _ONE
                    while 48 <= text[i] <= 57:
                        i += _ONE
                    if text[i - _ONE] == 58 or text[i] > 32:
                        wrong = NO_VALUE
                        break
                    continue
                run, count = digits(words, i)
                index = np.int64(run)
                i += count
                while count == _EIGHT:
                    run, count = digits(words, i)
                    index = index * np.int64(SHIFTS[count]) + np.int64(run)
                    index = min(index, np.int64(LARGEST + 1))
                    i += count
                if text[i] != 58 or i == start:
                    wrong = NO_PAIR if text[i] != 58 and i > start else NO_INDEX
                    break
                if index > LARGEST:
                    wrong = LARGE_INDEX
                    break
                if index <= last:
                    wrong = NOT_RISING
                    break
                i += _ONE
                begun = i
                kind, i = decimal(text, words, i, bits, floats)
                if kind == BAD or not (text[i] <= 32 or text[i] == 35):
                    wrong = NO_VALUE
                    break
                if kind == HARD:
                    tough[hard, 0], tough[hard, 1], tough[hard, 2] = e, begun, i
                    hard += 1
                if last < 0:
                    least = min(least, index)
                places[e] = index
                values[e] = floats[0]
                last = index  # type: ignore[assignment]
                e += 1
            if wrong != FINE:
                break
            most = max(most, last)
            entry = e
            ends[row] = entry
            row += 1
        if text[i] == 35:
            while text[i] != 10 and text[i] != 13:
                i += _ONE
        i += _TWO if text[i] == 13 and i + _ONE < n and text[i + _ONE] == 10 else _ONE
        line += 1
    if wrong != FINE:
        state[WRONG] = start
        i, hard, queries = begin, kept, found_queries
    state[AT], state[LINE], state[ROW] = i, line, row
    state[ENTRY], state[TOUGH] = entry, hard
    state[LEAST], state[MOST], state[QUERIES] = least, most, queries
    return wrong
