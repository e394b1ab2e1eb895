"""IDX files, the format of the MNIST digits.

A file is four bytes - zero, zero, a type, the number of dimensions - then each dimension as a
big-endian 32-bit integer, then the numbers, big-endian, last dimension fastest.
"""

import io
import math
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from linsep.data.files.compression import SUFFIXES, about, open_plain, unpacking
from linsep.errors import DataError

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_PIECE = 1 << 24


def read_idx(path: str | Path) -> npt.NDArray[Any]:
    """Read one IDX file, plain or compressed, as the array it describes.

    Raises
    ------
    DataError
        When the file is not IDX, ends early, or holds more than its header says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels"
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    ...     read_idx(path).tolist()
    [7, 2, 1]
    """
    path = Path(path)
    with unpacking(path), open_plain(path) as stream:
        plain = isinstance(stream, io.BufferedReader)
        return _parse(stream, path, about(path).st_size if plain else None)


def _parse(stream: IO[bytes], path: Path, size: int | None) -> npt.NDArray[Any]:
    """The array; memory-mapped where the file is not packed and has the `size` it should."""
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES:
        raise DataError(
            f"{path} starts with the bytes {magic.hex(' ') or 'none'}; an IDX file starts with "
            "00 00, a type 08..0e and a number of dimensions. Is it another format?"
        )
    shape = np.frombuffer(_take(stream, 4 * magic[3], path), ">u4").astype(int).tolist()
    dtype = np.dtype(_TYPES[magic[2]])
    begin = 4 + 4 * magic[3]
    if shape and 0 not in shape and size == begin + math.prod(shape) * dtype.itemsize:
        whole = np.memmap(path, dtype, "r", begin, tuple(shape))
        return whole if dtype.itemsize == 1 else whole.astype(dtype.newbyteorder("="))
    values = np.frombuffer(_take(stream, math.prod(shape) * dtype.itemsize, path), dtype)
    if stream.read(1):
        raise DataError(
            f"{path} holds more bytes than its header {tuple(shape)} says; fetch it again."
        )
    return values.reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def _take(stream: IO[bytes], count: int, path: Path) -> bytes:
    """Exactly `count` bytes, in pieces: a false header must not reserve the memory it claims."""
    taken = bytearray()
    while len(taken) < count:
        piece = stream.read(min(_PIECE, count - len(taken)))
        if not piece:
            raise DataError(
                f"{path} ends after {len(taken)} of the {count} bytes its header promises; "
                "fetch it again."
            )
        taken += piece
    return bytes(taken)


def load_idx(path: str | Path) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """Read images and their labels: rows of pixels as stored (0 to 255), and one label per row.

    Parameters
    ----------
    path : path
        The file of images, with the labels beside it under the same name but `labels` for
        `images` and `idx1` for `idx3`; or a folder that holds both (training files first).
    """
    values, labels = images_and_labels(Path(path))
    return values.astype(np.float32), labels


def images_and_labels(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A row of numbers, as stored, for each image, and the labels."""
    images = images_in(path) if path.is_dir() else path
    values, labels = read_idx(images), read_idx(labels_beside(images))
    if values.ndim < 2 or labels.ndim != 1 or len(values) != len(labels):
        raise DataError(
            f"{images} has shape {values.shape} and its labels {labels.shape}; images must have "
            "two or more dimensions and as many entries as there are labels."
        )
    return values.reshape(len(values), -1), labels


def images_in(folder: Path) -> Path:
    images = sorted(folder.glob("*images*idx*"), key=lambda p: ("train" not in p.name, p.name))
    if not images:
        raise DataError(
            f"the folder {folder} holds no file named like train-images-idx3-ubyte; "
            "pass the path of a file."
        )
    return images[0]


def labels_beside(images: Path) -> Path:
    name = images.name.replace("images", "labels").replace("idx3", "idx1")
    stem = name
    for suffix in SUFFIXES:
        stem = stem.removesuffix(suffix)
    for suffix in ("", *SUFFIXES):
        beside = images.with_name(stem + suffix)
        if beside.exists() and beside != images:
            return beside
    raise DataError(
        f"no labels were found beside {images}; {stem} (or .gz) was wanted. Put it in that folder."
    )
