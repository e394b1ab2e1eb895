"""A model file can only be a model or be refused: no code, no other file, no crash, no wait."""

import base64
import gzip
import hashlib
import io
import json
import pickle
import random
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linsep
from linsep.errors import ModelFileError
from linsep.model.files.container import (
    LONGEST,
    MOST,
    ZEROS,
    ranges,
    seal,
    spell,
    unseal,
)
from linsep.model.files.store import from_bytes
from linsep.model.forms import Linear

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*.linsep"))
SMALL = GOLDEN / "1-passive.linsep"
BOUNDARY = [
    None, True, -1, 0, 1, 2, 2**31, 2**53, 2**63, 10**400, 0.5, -0.0, 1e308, 5e-324, "", "x", "\0",
    "\ud800", "../../../etc/passwd", "__import__('os').system('true')", "linsep.load", [], {}, [0],
    [[]], {"": 0}, {"float": "nan"}, {"float": "inf"}, {"int": "9" * 30}, {"int": "1"},
    {"bytes": "ÿ"}, {"bytes": "€"}, {"list": [1]}, {"tuple": 1}, {"dict": [[1, 2]]},
    {"dict": [[[], 1]]}, {"array": {"list": ["a"]}}, {"array": {"list": [{"list": [1]}, 2]}},
    {"unsaved": 1}, {"pickle": "gASVAA=="}, {"object": "os.system"}, "F64", "votes",
]  # fmt: skip


def refused(content, name="hostile"):
    """Whether `load` says no, and in its own words."""
    try:
        from_bytes(content, name)
    except ModelFileError as problem:
        assert str(problem).startswith(name)
        return True
    return False


def opened(path):
    text, tensors = unseal(path.read_bytes(), "golden")
    return json.loads(text), tensors


def sealed(document, tensors):
    """A file whose digest is right, whatever it holds."""
    return seal(spell(document), tensors)


def resealed(content):
    """The same bytes with the digest they ask for."""
    place = content.index(b'"sha256":"') + 10
    blank = content[:place] + ZEROS.encode() + content[place + 64 :]
    digest = hashlib.sha256(blank).hexdigest().encode()
    return blank[:place] + digest + blank[place + 64 :]


def with_header(change):
    """The small file with a changed header text, and a digest that fits it."""
    content = SMALL.read_bytes()
    length = int.from_bytes(content[:8], "little")
    text = change(content[8 : 8 + length].rstrip(b" "))
    text += b" " * (-len(text) % 8)
    return resealed(len(text).to_bytes(8, "little") + text + content[8 + length :])


def places(value, path=()):
    """Every place of a JSON document."""
    yield path
    if isinstance(value, (dict, list)):
        children = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in children:
            yield from places(child, (*path, key))


def put(value, path, new):
    """A copy of the document with `new` at a place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


def test_the_forging_tools_of_these_tests_forge_what_is_accepted():
    for path in FILES:
        assert sealed(*opened(path)) == path.read_bytes()
    assert with_header(lambda text: text) == SMALL.read_bytes()
    assert not refused(SMALL.read_bytes())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_cut_off_at_any_byte_is_refused(path):
    content = path.read_bytes()
    assert all(refused(content[:n]) for n in range(len(content)))


def test_every_single_flipped_bit_is_noticed():
    content = bytearray(SMALL.read_bytes())
    for place in range(len(content)):
        for bit in range(8):
            content[place] ^= 1 << bit
            assert refused(bytes(content)), (place, bit)
            content[place] ^= 1 << bit


@pytest.mark.parametrize("tail", [b"\0", b" ", b"{}", b"PK\5\6" + b"\0" * 18])
def test_anything_after_the_end_is_noticed_even_with_a_fitting_digest(tail):
    assert refused(SMALL.read_bytes() + tail)
    assert refused(resealed(SMALL.read_bytes() + tail))


def foreign():
    """Files of other kinds, as they would be renamed."""
    X = np.ones((2, 2))
    npy, npz, packed = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.save(npy, X)
    np.savez(npz, X=X)
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("model", SMALL.read_bytes())
    yield "pickle", pickle.dumps({"coef": [1.0]})
    yield "joblib", b"\x80\x04\x95" + pickle.dumps(X)
    yield "npy", npy.getvalue()
    yield "npz", npz.getvalue()
    yield "zip", packed.getvalue()
    yield "gzip", gzip.compress(SMALL.read_bytes())
    yield "base64", base64.b64encode(SMALL.read_bytes())
    yield "html", b"<html><!--" + SMALL.read_bytes() + b"--></html>"
    yield "json", json.dumps(opened(SMALL)[0]).encode()
    yield "empty", b""
    yield "zeros", bytes(4096)
    yield "text", b"label,x\n1,2\n" * 10
    try:
        from safetensors.numpy import save
    except ImportError:
        return
    yield "safetensors", save({"coef": X})
    yield "safetensors with metadata", save({"coef": X}, {"linsep": "{}", "sha256": ZEROS})


@pytest.mark.parametrize(("kind", "content"), list(foreign()), ids=[kind for kind, _ in foreign()])
def test_files_of_other_kinds_are_refused(kind, content):
    assert refused(content)


def test_an_onnx_file_is_refused():
    onnx = pytest.importorskip("onnx")
    graph = onnx.helper.make_graph([], "g", [], [])
    assert refused(onnx.helper.make_model(graph).SerializeToString())


@pytest.mark.parametrize(
    "change",
    [
        lambda t: b" " + t,
        lambda t: t.replace(b'{"__metadata__"', b'{ "__metadata__"', 1),
        lambda t: t.replace(b'"coef":', b'"coef":{"data_offsets":[0,0]},"coef":', 1),
        lambda t: t.replace(b'"dtype":"F32"', b'"dtype":"F32","dtype":"F32"', 1),
        lambda t: t.replace(b'"dtype":"F32"', b'"dtype":"F32","extra":1', 1),
        lambda t: t.replace(b'"dtype":"F32"', b'"dtype":"F64"', 1),
        lambda t: t.replace(b'"dtype":"F32"', b'"dtype":["F32"]', 1),
        lambda t: t.replace(b"[0,12]", b"[-12,0]", 1),
        lambda t: t.replace(b"[0,12]", b"[0,16]", 1),
        lambda t: t.replace(b"[0,12]", b"[0,9223372036854775808]", 1),
        lambda t: t.replace(b"[0,12]", b"[4,16]", 1),
        lambda t: t.replace(b'"shape":[1,3]', b'"shape":[3,1]', 1),
        lambda t: t.replace(b'"shape":[1,3]', b'"shape":[1,-3]', 1),
        lambda t: t.replace(b'"shape":[1,3]', b'"shape":[4611686018427387904,3]', 1),
        lambda t: t.replace(b'"shape":[1,3]', b'"shape":[1,3.0]', 1),
        lambda t: t.replace(b'"shape":[1,3]', b'"shape":[1,1,3]', 1),
        lambda t: t.replace(b'"shape":[1,3]', b'"shape":3', 1),
        lambda t: t.replace(b'"sha256"', b'"sha255"', 1),
        lambda t: t.replace(b'"__metadata__"', b'"__Metadata__"', 1),
        lambda t: t.replace(b"\\u", b"\xff", 1) + b"\xff",
        lambda t: t[:-1],
        lambda t: t + b"x",
        lambda t: t.replace(b'"shape"', b'"shape":NaN,"x"', 1),
        lambda t: t[:-1] + b',"z":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        lambda t: t[:-1] + b',"z":{"data_offsets":[16,16],"dtype":"F32","shape":[0]}}',
    ],
    ids=range(25),
)
def test_headers_that_are_spelled_otherwise_are_refused(change):
    try:
        content = with_header(change)
    except ValueError:  # no place for a digest is left
        return
    assert refused(content)


@pytest.mark.parametrize("length", [0, 1, 7, LONGEST + 8, 2**31, 2**63, 2**64 - 1])
def test_lengths_that_lie_are_refused_before_anything_is_allocated(length):
    assert refused(length.to_bytes(8, "little") + SMALL.read_bytes()[8:])


def test_headers_that_would_fill_memory_are_refused_unread():
    for brackets in (b"[" * MOST, b"{" * MOST, b"[{" * (MOST // 2)):
        content = with_header(lambda text, more=brackets: text[:-1] + b',"z":"' + more + b'"}')
        with pytest.raises(ModelFileError, match="opening brackets, more than"):
            from_bytes(content, "hostile")
    spaces = SMALL.read_bytes()[8:40] + b" " * LONGEST
    with pytest.raises(ModelFileError, match=f"more than {LONGEST}"):
        from_bytes(len(spaces).to_bytes(8, "little") + spaces, "hostile")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_said_of_the_bytes_of_a_file_covers_each_once(path):
    content = path.read_bytes()
    told = ranges(content)
    assert [first for first, _, _ in told] == [0, *(last for _, last, _ in told[:-1])]
    assert told[-1][1] == len(content)
    _, tensors = unseal(content, "golden")
    assert [what.partition(":")[0] for _, _, what in told[2:]] == sorted(tensors)


def test_a_header_beyond_the_end_of_the_file_is_refused_by_its_length():
    content = SMALL.read_bytes()
    for length in (len(content), len(content) - 7, 12):
        with pytest.raises(ModelFileError, match=f"announce a header of {length} bytes"):
            from_bytes(length.to_bytes(8, "little") + content[8:], "hostile")


FORMS = [GOLDEN / f"1-{name}.linsep" for name in ("encoded", "kernel", "scaled", "voted")]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_every_field_at_every_boundary_is_a_model_or_a_refusal(path):
    document, tensors = opened(path)
    wrong = 0
    for place in places(document):
        for value in BOUNDARY:
            wrong += refused(sealed(put(document, place, value), tensors))
    for key in document:
        without = {k: v for k, v in document.items() if k != key}
        assert refused(sealed(without, tensors))
    assert refused(sealed({**document, "comment": ""}, tensors))
    assert wrong > 500


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_tensors_that_do_not_fit_are_refused(path):
    document, tensors = opened(path)
    for name, tensor in tensors.items():
        assert refused(sealed(document, {k: v for k, v in tensors.items() if k != name}))
        assert refused(sealed(document, {**tensors, "extra": tensor}))
        changed = [tensor[..., None], tensor[None], tensor.astype(np.int32)]
        changed += [np.concatenate([tensor, tensor])] if tensor.ndim else []
        for value in (np.nan, np.inf, -np.inf) if tensor.dtype.kind == "f" else (-1, 2**31 - 1):
            one = tensor.copy()
            if one.size:
                one.reshape(-1)[-1] = value
                changed.append(one)
        for other in changed:
            assert other.ndim > 2 or refused(sealed(document, {**tensors, name: other})), name


def test_answers_other_than_the_stored_ones_are_noticed():
    document, tensors = opened(GOLDEN / "1-logistic.linsep")
    tensors["coef"] = tensors["coef"] * (1 + 1e-6)
    with pytest.raises(ModelFileError, match="self-test"):
        from_bytes(sealed(document, tensors), "changed")


def test_thousands_of_garbled_files_are_refused_or_sound():
    """Bytes and structures at random; 20,000 in all."""
    chance = random.Random(0)
    contents = [path.read_bytes() for path in FILES]
    documents = [opened(path) for path in FILES]
    kept = 0
    for _ in range(10_000):
        garbled = bytearray(chance.choice(contents))
        for _ in range(chance.randint(1, 8)):
            start = chance.randrange(len(garbled))
            stop = min(len(garbled), start + chance.choice([1, 1, 4, 64]))
            action = chance.randrange(4)
            if action == 0:
                garbled[start:stop] = chance.randbytes(stop - start)
            elif action == 1:
                del garbled[start:stop]
            elif action == 2:
                garbled[start:start] = garbled[chance.randrange(len(garbled)) :][:64]
            else:
                garbled[start] = chance.choice(b'"\\{}[],:0-9\0\xff ')
            garbled = garbled or bytearray(b"\0")
        content = bytes(garbled)
        assert refused(content) or content in contents
        if b'"sha256":"' in content[:-74]:
            kept += not refused(resealed(content))
    for _ in range(10_000):
        document, tensors = chance.choice(documents)
        spots = list(places(document))
        for _ in range(chance.randint(1, 3)):
            place = chance.choice(spots)
            try:
                document = put(document, place, chance.choice(BOUNDARY))
            except (LookupError, TypeError):
                continue  # a place inside what was just replaced
        kept += not refused(sealed(document, tensors))
    assert kept < 6000  # harmless changes: a parameter, a version, a number of mistakes


def test_a_header_of_brackets_inside_the_document_ends_with_a_refusal():
    document, tensors = opened(SMALL)
    deep = "[" * 100_000 + "]" * 100_000
    text = spell(document).replace('"certificate":null', f'"certificate":{deep}')
    assert refused(seal(text, tensors))


WATCHED = """
import json, random, sys
from dataclasses import replace
from pathlib import Path
from linsep.errors import ModelFileError
from linsep.model.files.container import seal, spell, unseal
from linsep.model.forms import Linear
from linsep.model.files.store import from_bytes, load
golden = [Path(p) for p in sys.argv[2:]]
for path in golden:
    load(path)  # what loading takes is in memory now
scratch = sys.argv[1]
events = []
watching = False
QUIET = {"object.__getattr__", "sys._getframe", "code.__new__", "array.__new__"}

def hook(event, arguments):
    if watching and event not in QUIET:
        if event == "open" and arguments[0] == scratch:
            return
        events.append((event, str(arguments)[:100]))

sys.addaudithook(hook)
chance = random.Random(1)
paths = ["../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "os.system", "linsep.data",
         "http://127.0.0.1/x", "__import__('os')", "sklearn.svm.SVC", "pickle", "!!python/object"]
opened = []
for path in golden:
    text, tensors = unseal(path.read_bytes(), "golden")
    opened.append((json.loads(text), tensors))
for number in range(400):
    document, tensors = opened[number % len(opened)]
    document = dict(document)
    document[chance.choice(sorted(document))] = chance.choice(paths)
    Path(scratch).write_bytes(seal(spell(document), tensors))
    watching = True
    try:
        load(scratch)
    except ModelFileError:
        pass
    finally:
        watching = False
print(json.dumps(events))
"""


def test_loading_imports_nothing_runs_nothing_and_opens_nothing_else(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path / "m"), *map(str, FILES)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == []


def test_the_loader_has_no_way_to_run_code():
    """Nothing that could is so much as mentioned in the modules that read files."""
    folder = Path(linsep.__file__).parent / "model"
    modules = [*folder.glob("files/*.py"), folder / "forms.py", folder / "expansion.py"]
    words = ("pickle", "eval(", "exec(", "import_module", "__import__", "joblib", "setattr(model")
    assert len(modules) >= 7
    for module in modules:
        assert not [word for word in words if word in module.read_text()], module


def test_paths_that_are_no_files_are_named(tmp_path):
    with pytest.raises(ModelFileError, match="No such file"):
        linsep.load(tmp_path / "nowhere")
    with pytest.raises(ModelFileError, match="directory"):
        linsep.load(tmp_path)
    with pytest.raises(ModelFileError, match="regular"):
        linsep.load("/dev/zero")


def test_memory_stays_within_twice_the_file(tmp_path):
    form = Linear(np.ones((1, 4_000_000)), np.zeros(1))
    small = linsep.load(SMALL)
    linsep.save(replace(small, form=form, n_features_in_=4_000_000), tmp_path / "wide")
    script = (
        "import linsep, resource, sys\n"
        "linsep.load\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "linsep.load(sys.argv[1])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "wide")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    size = (tmp_path / "wide").stat().st_size
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit <= 2 * size + (32 << 20)
