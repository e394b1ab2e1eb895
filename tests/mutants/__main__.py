"""Change one thing in a module, run its tests, and list the changes that none of them noticed.

    python -m mutants [how many of each target] [targets ...]

The package is linked into a folder of out, where one file at a time is changed; a process for each
change, forked from one that has the libraries but nothing of linsep. What survives is printed, and
whether it is listed, with a reason, in survivors.txt.
"""

import os
import random
import shutil
import signal
import sys
import sysconfig
import time
from importlib import import_module
from pathlib import Path

from mutants.changes import changes

TOP = Path(__file__).parents[2]
ROOM = TOP / "out" / f"mutants-{os.getpid()}"  # several may run side by side
LISTED = Path(__file__).parent / "survivors.txt"
SHARE = 0.9  # of the changes, that tests have to notice
TIMED = ("-p", "pytest_timeout")
LIBRARIES = ("numpy", "scipy.sparse", "sklearn.base", "pytest", "click", "starlette")

MODEL = [
    "tests/model/test_layers.py",
    "tests/model/test_hostile_files.py",
    "tests/model/test_store.py",
    "-k",
]
MODEL = [
    *MODEL,
    "not memory and not garbled and not imports_nothing and not LinearSVC-2 and not inf-2",
]
LAB = ["tests/views/lab/test_lab_guard.py"]
VERIFY = ["tests/proofs/verify/test_verify.py"]
EXPORTED = ["tests/proofs/exported"]
MULTIPLIERS = [f"tests/proofs/exported/test_{name}.py" for name in ("multipliers", "verifier")]
VERIFIER = [f"tests/proofs/exported/test_{name}.py" for name in ("verifier_parts", "verifier")]
CHOOSE = [f"tests/train/convex/test_choose{name}.py" for name in ("_rules", "")]
CHOOSE += ["-k", "not page_of_the_insides and not never_cost_fewer"]  # pages are not linked
DRIVER = [f"tests/train/convex/test_driver{name}.py" for name in ("_rules", "")]
TARGETS = {
    "container": ("src/linsep/model/files/container.py", MODEL),
    "values": ("src/linsep/model/files/values.py", MODEL),
    "document": ("src/linsep/model/files/document.py", MODEL),
    "store": ("src/linsep/model/files/store.py", MODEL),
    "certificate": ("src/linsep/proofs/verify/separability.py", VERIFY),
    "claims": ("src/linsep/proofs/exported/claims.py", EXPORTED),
    "multipliers": ("src/linsep/proofs/exported/multipliers.py", MULTIPLIERS),
    "verifier": ("verify/linsep_verify.py", VERIFIER),
    "guard": ("src/linsep/views/lab/guard.py", LAB),
    "choose": ("src/linsep/train/convex/choose.py", CHOOSE),
    "driver": ("src/linsep/train/convex/drive.py", DRIVER),
}

SITE = """import sys

sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in type(one).__module__]
"""


def main() -> int:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    names = sys.argv[2:] or list(TARGETS)
    prepare()
    listed = LISTED.read_text("utf-8")
    made = survived = unlisted = 0
    for name in names:
        path, tests = TARGETS[name]
        own = ROOM / path
        source = (TOP / path).read_text("utf-8")
        begun = time.perf_counter()
        put(own, source)
        os.utime(own, (1, 1))  # what is kept of it, compiled, is never taken for a changed one
        if code := trial(tests, 900.0, changed=False):
            print(f"{name}: its tests fail without a change ({code})")
            return 1
        limit = 30.0 + 4.0 * (time.perf_counter() - begun)
        every = list(changes(source))
        some = random.Random(name).sample(every, min(most, len(every)))
        left = []
        for line, said, changed in sorted(some):
            put(own, changed)
            if trial(tests, limit) == 0:
                left.append(f"{path}:{line}  {said}")
                known = f"{path}  {said}" in listed
                unlisted += not known
                print(f"  {left[-1]}{'' if known else '  (not listed)'}", flush=True)
        put(own, source)
        made, survived = made + len(some), survived + len(left)
        killed = 1 - len(left) / len(some)
        print(f"{name}: {len(some)} of {len(every)} changes, {killed:.1%} noticed", flush=True)
    shutil.rmtree(ROOM)
    print(f"{made} changes, {1 - survived / made:.1%} noticed; {unlisted} survivors are not listed")
    return int(survived > (1 - SHARE) * made)


def prepare() -> None:
    """The package and its tests, linked; libraries that every trial wants, imported once."""
    shutil.rmtree(ROOM, ignore_errors=True)
    for name in ("src", "tests", "verify", "benchmarks"):
        shutil.copytree(
            TOP / name, ROOM / name, copy_function=os.link,
            ignore=shutil.ignore_patterns("lectures", "peers_suite"),
        )  # fmt: skip
    os.link(TOP / "pyproject.toml", ROOM / "pyproject.toml")
    kernels = ROOM / "src" / "linsep" / "kernels"
    for compiled in Path(sysconfig.get_path("platlib"), "linsep", "kernels").glob("_kernels_*"):
        shutil.copy(compiled, kernels)
    (ROOM / "src" / "sitecustomize.py").write_text(SITE, "utf-8")
    exec(SITE, {})
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOM / "src"), str(ROOM / "tests")])
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    own = str(TOP / "src"), str(TOP / "tests"), str(TOP), ""
    sys.path[:] = [str(ROOM / "src"), *(one for one in sys.path if one not in own)]
    os.chdir(ROOM)
    for name in LIBRARIES:
        import_module(name)
    assert "linsep" not in sys.modules


def put(path: Path, source: str) -> None:
    path.unlink(missing_ok=True)  # a link: what it links to stays as it is
    path.write_text(source, "utf-8")


def trial(tests: list[str], limit: float, changed: bool = True) -> int:
    """The exit code of the tests in a process of their own; −1 where they do not end in time."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        sys.dont_write_bytecode = changed
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1" if changed else ""
        code = 70
        try:
            import pytest

            for name in [one for one in sys.modules if one.partition(".")[0] == "mutants"]:
                del sys.modules[name]
            code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *TIMED, *tests]))
        finally:
            os._exit(code)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


if __name__ == "__main__":
    sys.exit(main())
