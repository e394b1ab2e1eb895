"""Memory asked for ahead of its use: part of `linsep._compile`."""


def fetch(array, place):  # type: ignore[no-untyped-def]
    """Ask for the cache line of the entry at `place` of the array's memory, and go on at once.

    In kernels; a row that is visited out of order is then there when its turn comes.
    """
