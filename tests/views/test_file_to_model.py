"""From a file to a saved model: what `linsep fit` reads, and how often."""

import pytest
from click.testing import CliRunner

from linsep.data.sources import Source
from linsep.views.cli import group


@pytest.mark.parametrize("name", ["t.svm", "t.csv"])
def test_a_fit_reads_its_file_once(name, tmp_path, monkeypatch):
    passes = []
    raw = Source.raw

    def counted(self, bad):
        passes.append(self.paths)
        return raw(self, bad)

    monkeypatch.setattr(Source, "raw", counted)
    path = tmp_path / name
    if name.endswith("svm"):
        path.write_text("".join(f"{k % 2} 1:{k} 2:{k * k % 7}\n" for k in range(60)))
    else:
        path.write_text("a,y\n" + "".join(f"{k},{k % 2}\n" for k in range(60)))
    asked = ["fit", str(path), "--learner", "Perceptron", "-p", "max_iter=2", "-q"]
    done = CliRunner().invoke(group, asked)
    assert done.exit_code == 0, done.output
    assert "Training rows" in done.output
    assert passes == [[path]]
