"""Cells of an array that is known by its address alone: part of `linsep._compile`."""

import ctypes


def number_at(address, place):  # type: ignore[no-untyped-def]
    """The float64 at `place` of an array that begins at `address`."""
    return ctypes.c_double.from_address(int(address) + 8 * int(place)).value


def code_at(address, place):  # type: ignore[no-untyped-def]
    """The int32 at `place` of an array that begins at `address`."""
    return ctypes.c_int32.from_address(int(address) + 4 * int(place)).value


def bits_at(address, place):  # type: ignore[no-untyped-def]
    """The eight bytes at `place` of an array that begins at `address`, as a whole number."""
    return ctypes.c_int64.from_address(int(address) + 8 * int(place)).value


def fetch_at(address):  # type: ignore[no-untyped-def]
    """Ask for the cache line at `address`, and go on at once; in kernels."""
