"""What is fuzzed: seeds, how an input is finished, and what a reader may say of it.

A target takes bytes and returns a word about what happened, or raises where something is wrong.
Only errors of linsep's own count as refusals. A parser of `linsep.kernels` becomes a target by
a class here: its `read` calls the kernel, and compares with the reader in Python.
"""

import atexit
import contextlib
import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

import linsep
from fuzz.mutation import of_bytes, of_json
from linsep.errors import DataError, LinsepError, ModelFileError
from linsep.model.files.container import seal, spell, unseal
from linsep.model.files.store import from_bytes
from linsep.proofs.separability.certificate import Separability, _digest
from linsep.proofs.verify.separability import check
from linsep.train.run.checkpoint import MAGIC, pack, unpack
from linsep.train.run.trace import Trace
from linsep.train.run.trace_file import read_into
from linsep.views.lab.request import read_request
from proofs.exported.duel import VERIFIER

GOLDEN = Path(__file__).parents[1] / "model" / "golden"
ROWS = np.array([[0.0, 1.0], [1.5, 2.0], [3.0, -0.5], [2.5, 0.0], [1.0, 1.0], [0.5, 0.25]])
LABELS = np.array([0, 0, 1, 1, 0, 1])


def short(problem):
    """The kind of an error, and its sentence without numbers and names: new ones lead on."""
    said = re.sub(r"/\S+|'[^']*'|\"[^\"]*\"|[0-9a-f]{4,}|\d+", "_", str(problem))
    return f"{type(problem).__name__} {said[:60]}"


class Target:
    """Seeds, and what makes and reads an input."""

    def seeds(self):
        return []

    def make(self, draw, data, other):
        """A new input from two of the corpus."""
        if draw.random() < 0.5:
            data = of_json(draw, data)
            if draw.random() < 0.7:
                return data
        return of_bytes(draw, data, other)

    def read(self, data):
        raise NotImplementedError


class Model(Target):
    """Model files whose digests are right in two cases of three."""

    def seeds(self):
        return [path.read_bytes() for path in sorted(GOLDEN.glob("*.linsep"))]

    def make(self, draw, data, other):
        if draw.random() < 0.5:
            with contextlib.suppress(LinsepError, ValueError, TypeError, RecursionError):
                text, tensors = unseal(data, "seed")
                return seal(spell(json.loads(of_json(draw, text.encode()))), tensors)
        data = bytearray(of_bytes(draw, data, other))
        place = data.find(b'"sha256":"') + 10
        if place > 10 and draw.random() < 0.7:
            data[place : place + 64] = b"0" * 64
            data[place : place + 64] = hashlib.sha256(data).hexdigest().encode()
        return bytes(data)

    def read(self, data):
        try:
            model = from_bytes(data, "fuzz")
        except ModelFileError as problem:
            return short(problem)
        if not model.carries_rows and model.n_features_in_ < 1000:
            with contextlib.suppress(LinsepError):
                model.predict(np.zeros((2, model.n_features_in_)))
        return "read"


class Certificate(Target):
    """Separability certificates with right digests, read by linsep and by the verifier."""

    def __init__(self):
        folder = Path(tempfile.mkdtemp(prefix="linsep-fuzz-"))
        atexit.register(shutil.rmtree, folder, True)
        self.data, self.path = folder / "d.csv", folder / "c.json"
        lines = zip(ROWS.tolist(), LABELS, strict=True)
        self.data.write_text("".join(f"{a!r},{b!r},{k}\n" for (a, b), k in lines))

    def seeds(self):
        found = [linsep.separability(ROWS, LABELS), linsep.separability(ROWS, [0, 0, 1, 1, 0, 0]),
                 linsep.separability(ROWS, [0, 1, 2, 0, 1, 2])]  # fmt: skip
        return [proof.to_json().encode() for proof in found]

    def make(self, draw, data, other):
        data = super().make(draw, data, other)
        with contextlib.suppress(ValueError, RecursionError):
            body = json.loads(data)
            if isinstance(body, dict):
                body.pop("digest", None)
                data = json.dumps({**body, "digest": _digest(body)}).encode()
        return data

    def read(self, data):
        try:
            proof = Separability.from_json(data.decode("utf-8", "replace"))
            why = check(proof, ROWS, LABELS)
        except DataError as problem:
            why = short(problem)
        self.path.write_bytes(data)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = VERIFIER.check(str(self.data), str(self.path))
        if why == "" and code == 1:
            raise AssertionError(f"linsep accepts what the verifier refutes: {out.getvalue()}")
        return f"{code} {re.sub(r'[0-9.e-]+', '_', why)[:60]}"


class TraceLines(Target):
    """Recordings of runs."""

    def seeds(self):
        return ["\n".join(learner.fit(ROWS, LABELS).trace_.lines()).encode() for learner in (
            linsep.Perceptron(trace=True, max_iter=5), linsep.LogisticRegression(trace=True),
        )]  # fmt: skip

    def make(self, draw, data, other):
        lines = data.split(b"\n")
        if draw.random() < 0.6:
            i = draw.randrange(len(lines))
            lines[i] = of_json(draw, lines[i])
            return b"\n".join(lines)
        return of_bytes(draw, data, other)

    def read(self, data):
        try:
            read_into(Trace("", {}, []), data.decode("utf-8", "replace").split("\n"), "fuzz")
        except DataError as problem:
            return short(problem)
        return "read"


class Checkpoints(Target):
    """Checkpoints whose digests are right; `load` takes three kinds of error for damage."""

    def seeds(self):
        return [pack({"pass": 3, "list": [1, None]}, [np.arange(6.0).reshape(2, 3), np.arange(4)]),
                pack({}, [])]  # fmt: skip

    def make(self, draw, data, other):
        start = len(MAGIC) + 32
        size = int.from_bytes(data[start : start + 8], "little")
        rest = data[start:]
        if draw.random() < 0.7:
            text = of_json(draw, rest[8 : 8 + size])
            rest = len(text).to_bytes(8, "little") + text + rest[8 + size :]
        else:
            rest = of_bytes(draw, rest, other)
        return MAGIC + hashlib.sha256(rest).digest() + rest

    def read(self, data):
        try:
            unpack(data)
        except ValueError as problem:
            return short(problem)
        return "read"


class Requests(Target):
    """What a page may send to the lab."""

    def seeds(self):
        return [b'{"toy": "xor", "learners": ["online"]}', json.dumps({
            "points": [[0, 1, 0], [1, 2.5, 1], [2, 0, 1]], "names": ["a", "b"],
            "learners": ["online", "logistic"], "parameters": {"eta0": 1.0, "max_iter": 10},
            "features": [0, 1], "axes": ["x", "y"], "lift": "", "scale": True,
        }).encode()]  # fmt: skip

    def read(self, data):
        try:
            read_request(data)
        except DataError as problem:
            return short(problem)
        return "read"


def loaded(data, **more):
    """Rows and labels of bytes as `linsep.read` takes them, or the error in which it refuses."""
    with warnings.catch_warnings(action="ignore"):
        try:
            chunks = linsep.read(io.BytesIO(data), n_jobs=1, **more)
            return *chunks.load(), chunks
        except LinsepError as problem:
            return short(problem)


class Csv(Target):
    """CSV, against Python's own reader where the table is one of plain numbers."""

    def seeds(self):
        return [
            b"a,b,kind\n1,2.5,x\n3,-4e2,y\n0.1,7,x\n", b"1;2;0\n3;4;1\n5;6;0\n",
            b'name,v,y\n"a ""b"" c",1.5,no\n"d\ne",2,yes\nf,,no\n', b"1\t2\ta\r\n3\t4\tb\r\n",
            b"d,t,y\n2020-01-31,true,p\n2021-02-28,false,q\n",
            b"\xef\xbb\xbfv,y\n\xc3\xa9,1\nb,0\n",
        ]  # fmt: skip

    def make(self, draw, data, other):
        return of_bytes(draw, data, other)

    def read(self, data):
        got = loaded(data, format="csv")
        if isinstance(got, str):
            return got
        X, y, chunks = got
        assert len(y) == X.shape[0], "rows and labels differ in number"
        values = X.data if hasattr(X, "indptr") else X
        assert np.isfinite(values).all(), "a number is not finite"
        wanted = self.plainly(data)
        if wanted is not None and chunks.encoding.header is False:
            assert np.array_equal(X, wanted), f"other numbers than the csv module: {X} {wanted}"
            return "read, as csv does"
        return "read"

    @staticmethod
    def plainly(data):
        """The features of a table of plain numbers without a header, its last column the labels."""
        if not re.fullmatch(rb"(?:-?\d{1,9}(?:\.\d{1,9})?(?:,|\n)){2,}", data):
            return None
        rows = list(csv.reader(io.StringIO(data.decode())))
        if len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
            return None
        return np.array([[float(x) for x in row[:-1]] for row in rows])


class Svmlight(Target):
    """svmlight, against scikit-learn's reader."""

    def seeds(self):
        return [b"1 1:0.5 3:2\n-1 2:1e-3\n1 1:4 2:5 # note\n",
                b"a 0:1\nb 1:2 7:3\n\n# all\na 0:9\n", b"+1 qid:3 1:1\n-1 qid:3 2:1\n"]  # fmt: skip

    def make(self, draw, data, other):
        return of_bytes(draw, data, other)

    def read(self, data):
        got = loaded(data, format="svmlight")
        if isinstance(got, str):
            return got
        X, y, chunks = got
        assert X.shape[0] == len(y)
        assert np.isfinite(X.data).all(), "a number is not finite"
        plain = rb"(?:-?\d{1,6}(?: \d{1,4}:-?\d{1,15}(?:\.\d{1,9})?(?:e-?\d)?)*\n)+"
        if re.fullmatch(plain, data):
            base = chunks.encoding.base
            A, t = load_svmlight_file(io.BytesIO(data), n_features=X.shape[1], zero_based=base == 0)
            assert (abs(A - X) > 0).nnz == 0, "other numbers than scikit-learn"
            assert np.array_equal(t, np.asarray(y, float)), "other labels than scikit-learn"
            return "read, as scikit-learn does"
        return "read"


class Npy(Target):
    """NPY files, against NumPy."""

    def seeds(self):
        out = []
        for array in (np.column_stack([ROWS, LABELS]), np.arange(12).reshape(4, 3),
                      np.asfortranarray(np.eye(4, dtype=np.float32))):  # fmt: skip
            file = io.BytesIO()
            np.save(file, array)
            out.append(file.getvalue())
        return out

    def make(self, draw, data, other):
        return of_bytes(draw, data, other)

    def read(self, data):
        got = loaded(data, format="npy")
        if isinstance(got, str):
            return got
        whole = np.load(io.BytesIO(data), allow_pickle=False)
        assert np.array_equal(got[0], whole[:, :-1].astype(np.float64)), "other numbers than NumPy"
        return "read, as NumPy does"


class Parquet(Target):
    """Parquet files with damage anywhere."""

    def seeds(self):
        import pyarrow as pa
        import pyarrow.parquet as pq

        out = []
        for table in (
            pa.table({"x": [0.5, 1.5, None, 3.0], "t": ["a", "b", "a", "c"], "y": [0, 1, 0, 1]}),
            pa.table({"x": pa.array([1, 2, 3], pa.int64()), "y": ["p", "q", "p"]}),
        ):
            file = io.BytesIO()
            pq.write_table(table, file)
            out.append(file.getvalue())
        return out

    def make(self, draw, data, other):
        return of_bytes(draw, data, other)

    def read(self, data):
        got = loaded(data, format="parquet")
        return got if isinstance(got, str) else "read"


class Address(Target):
    """Ends of the lab's address, by the page's own code in Node: many in one process."""

    batch = 400
    code = """
import { readFileSync } from "node:fs";
import { readAddress, writeAddress } from "%s";
const menu = JSON.parse(process.argv[1]);
const lines = JSON.parse(readFileSync(0, "utf8"));
for (const hash of lines) {
  let state;
  try { state = readAddress(hash, menu); }
  catch (error) {
    if (error.constructor !== Error) throw error;
    console.log(error.message.slice(0, 40)); continue;
  }
  if (state) {
    const again = JSON.stringify(readAddress(writeAddress(state), menu));
    if (again !== JSON.stringify(state)) throw new Error("does not come back: " + hash);
  }
  console.log(state ? "read" : "nothing");
}
"""

    def __init__(self):
        from linsep.views.lab.choices import menu

        self.menu = json.dumps(menu())
        lab = Path(linsep.__file__).parent / "views" / "lab" / "address.js"
        self.module = self.code % lab.as_uri()

    def seeds(self):
        return [b"#v=2&data=xor&learner=online&eta0=0.5&t=3", b"#v=2&data=points&points=0,1,0;1,1,1"
                b"&learner=online+logistic&scale=true"]  # fmt: skip

    def make(self, draw, data, other):
        return of_bytes(draw, data, other)

    def read(self, data):
        return self.read_all([data])[0]

    def read_all(self, inputs):
        """What is said of each."""
        lines = json.dumps([data.decode("utf-8", "replace") for data in inputs])
        done = subprocess.run(
            ["node", "--input-type=module", "--eval", self.module, self.menu],
            input=lines, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[:2000]
        told = done.stdout.splitlines()
        assert len(told) == len(inputs)
        return [re.sub(r"\d+", "_", line) for line in told]


TARGETS = {
    "model": Model, "certificate": Certificate, "trace": TraceLines, "checkpoint": Checkpoints,
    "request": Requests, "csv": Csv, "svmlight": Svmlight, "npy": Npy, "parquet": Parquet,
    "address": Address,
}  # fmt: skip
