"""Run tests of the compiled kernels under the address and undefined-behaviour sanitizers.

    python building/sanitize.py [tests ...]

The kernels are built once more, in build/sanitize, and put on the path before the installed ones.
"""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]
BUILD = TOP / "build" / "sanitize"


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def built() -> Path:
    """The folder of a copy of the package whose kernels check what they do."""
    tools = Path(sys.executable).parent
    cmake = str(tools / "cmake") if (tools / "cmake").exists() else "cmake"
    nanobind = output(sys.executable, "-m", "nanobind", "--cmake_dir")
    subprocess.run(
        [
            *(cmake, "-G", "Ninja", "-S", TOP, "-B", BUILD, "-DLINSEP_SANITIZE=ON"),
            *(f"-Dnanobind_DIR={nanobind}", f"-DPython_EXECUTABLE={sys.executable}"),
            "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
    )
    subprocess.run([cmake, "--build", BUILD], check=True, stdout=subprocess.DEVNULL)
    folder = BUILD / "package"
    (folder / "linsep").mkdir(parents=True, exist_ok=True)
    for path in (TOP / "src" / "linsep").iterdir():
        link = folder / "linsep" / path.name
        if path.name == "kernels":
            link.mkdir(exist_ok=True)
            (link / "__init__.py").write_bytes((path / "__init__.py").read_bytes())
        elif not link.is_symlink():
            link.symlink_to(path)
    subprocess.run([cmake, "--install", BUILD, "--prefix", folder], check=True, capture_output=True)
    return folder


def main() -> int:
    compiler = os.environ.get("CXX", "c++")
    libraries = [output(compiler, f"-print-file-name=lib{name}.so") for name in ("asan", "ubsan")]
    env = {
        **os.environ,
        "PYTHONPATH": str(built()),
        "LD_PRELOAD": os.pathsep.join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter's own are not ours to mend
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LINSEP_SANITIZED": "1",
    }
    tests = sys.argv[1:] or ["tests/kernels"]
    # editable installs answer imports before the path does: -S leaves them out
    site = [p for p in sys.path if p.endswith("site-packages")]
    env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], *site])
    run = [sys.executable, "-S", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    return subprocess.run(run, env=env, cwd=TOP).returncode


if __name__ == "__main__":
    sys.exit(main())
