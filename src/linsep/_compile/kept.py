"""Compiled kernels on disk, for processes that have the compiler.

The compiler's own cache has an index for each function, and ends the program if that is damaged, or
if the disk is full. Here each set of argument types has a file, and there is nothing to index: see
`linsep._kernel_cache`.
"""

import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from linsep import _kernel_cache, _machine
from linsep._compile import portable
from linsep._compile.type_names import kinds


class KeptOverloads(_Cache):  # type: ignore[misc]
    """What has been compiled for one function, as the compiler asks for it."""

    def __init__(self, function: Any, folder: Path) -> None:
        self.function, self.folder = function, folder

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self.folder)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The code for arguments of these types, or None."""
        context.refresh()
        try:
            arguments = tuple(getattr(signature, "args", signature))
            path = self._path(arguments)
            content = None if path is None else _kernel_cache.load(path)
            if content is None or not self._is_portable_kept(arguments):
                return None
            kept, data = pickle.loads(content)
            return CompileResult._rebuild(context, *data) if kept == arguments else None
        except Exception as problem:  # whatever it is, compiling is the way out
            _kernel_cache.tell(f"a kept kernel cannot be used, and is compiled again: {problem!r}")
            return None

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep what was compiled for these types."""
        try:
            arguments = tuple(getattr(signature, "args", signature))
            path = self._path(arguments)
            dynamic = made.library.has_dynamic_globals
            if path is None or dynamic or not all(one.can_cache for one in made.lifted):
                return
            content = dumps((arguments, made._reduce()))
        except Exception as problem:
            _kernel_cache.tell(f"a compiled kernel cannot be kept: {problem!r}")
            return
        _kernel_cache.store(path, content)
        portable.keep(self.folder, self.function, made)

    def _path(self, arguments: tuple[Any, ...]) -> Path | None:
        """The file. Names of types need not say all: it holds the types themselves too."""
        names = kinds(arguments) or repr(arguments)
        if " at 0x" in names:  # a function, by where it lies in this process
            return None
        with suppress(OSError):  # typed in at a prompt: there is no file
            return _machine.path_of(self.folder / "compiled", self.function, names)
        return None

    def _is_portable_kept(self, arguments: tuple[Any, ...]) -> bool:
        """Whether processes without the compiler find what they need; if not it is made again."""
        names = kinds(arguments)
        return not names or _machine.read(self.folder, self.function, names) is not None

    def enable(self) -> None:
        """Always on."""

    def disable(self) -> None:
        """Always on."""

    def flush(self) -> None:
        """Forget nothing: files of other sources have other names."""
