"""Draw the picture of every experiment: `python docs/pictures/experiments.py`, or `make pictures`.

Pages show these files, so that a forge shows them too; `make docs` measures everything again.
MNIST is used if it lies beside the project (see docs/data-sets.md), the embedded digits if not.
"""

import sys
import warnings
from pathlib import Path

from PIL import Image

from linsep.views.experiments import find, names

HERE = Path(__file__).parent
MNIST = HERE.parents[2] / "shared" / "data" / "mnist"


def shrink(path: Path) -> None:
    """Keep 128 colours, which pictures of lines and points do not exceed to the eye."""
    with Image.open(path) as image:
        image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def main(chosen: list[str]) -> None:
    (HERE / "experiments").mkdir(exist_ok=True)
    for name in chosen or names():
        path = HERE / "experiments" / f"{name}.png"
        with warnings.catch_warnings(action="ignore"):
            on_mnist = name.startswith("mnist") and MNIST.exists()
            found = find(name, MNIST if on_mnist else None)
        found.picture().savefig(path, dpi=90)
        shrink(path)
        print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
