"""Builds linsep by scikit-build-core; where no C++ compiler is, by one from the package index.

The compiler that comes as a package is ziglang's: clang with the C++ library and linker it needs.
"""

import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

COMPILERS = "c++", "g++", "clang++"
Settings = dict[str, list[str] | str] | None


def _has_compiler() -> bool:
    return "CXX" in os.environ or any(shutil.which(name) for name in COMPILERS)


def _more() -> list[str]:
    return [] if _has_compiler() else ["ziglang>=0.13"]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return [*_build.get_requires_for_build_wheel(config_settings), *_more()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return [*_build.get_requires_for_build_editable(config_settings), *_more()]


def _say(sentence: str) -> None:
    print(f"linsep: {sentence}", file=sys.stderr, flush=True)


def _command(folder: Path, name: str, words: str) -> str:
    """A command of that name that runs a part of ziglang."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {words} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def _with_compiler(config_settings: Settings, build: Any) -> str:
    settings = dict(config_settings or {})
    if _has_compiler():
        return str(build(settings))
    _say("no C++ compiler here; compiling by ziglang from the package index, about two minutes")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        settings["cmake.define.CMAKE_CXX_COMPILER"] = _command(folder, "c++", "c++")
        settings["cmake.define.CMAKE_AR"] = _command(folder, "ar", "ar")
        settings["cmake.define.CMAKE_RANLIB"] = _command(folder, "ranlib", "ranlib")
        settings["cmake.define.LINSEP_MARCH"] = "-mcpu=x86_64_LEVEL"
        return str(build(settings))


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    return _with_compiler(
        config_settings,
        lambda chosen: _build.build_wheel(wheel_directory, chosen, metadata_directory),
    )


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    return _with_compiler(
        config_settings,
        lambda chosen: _build.build_editable(wheel_directory, chosen, metadata_directory),
    )
