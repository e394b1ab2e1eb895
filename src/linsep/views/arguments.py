"""Options that several commands share, and the values written in them."""

import difflib
import inspect
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from linsep import _LEARNERS

F = TypeVar("F", bound=Callable[..., Any])

LEARNERS = list(_LEARNERS)

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # click 8.1 has no type of its choices


class _Data(click.Path):
    """A file, or the name of an embedded set; shells complete either."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from linsep.views.sources import EMBEDDED

        names = [name for name in EMBEDDED if name.startswith(incomplete)]
        if names and incomplete and not any(Path().glob(f"{incomplete}*")):
            return [CompletionItem(name) for name in names]
        return super().shell_complete(ctx, param, incomplete)


class _Learner(_Choice):
    """The name of a learner in any case, or its beginning where that is enough."""

    def __init__(self) -> None:
        super().__init__(LEARNERS, case_sensitive=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as Python has it."""
        word = str(value).lower()
        begun = [name for name in LEARNERS if name.lower().startswith(word)]
        exact = [name for name in begun if name.lower() == word]
        if len(exact or begun) == 1:
            return (exact or begun)[0]
        near = begun or difflib.get_close_matches(str(value), LEARNERS, 1, 0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near and word else ""
        return self.fail(
            " ".join(f"{value!r} is no learner. {hint} There are {', '.join(LEARNERS)}.".split()),
            param, ctx,
        )  # fmt: skip


class Share(click.FloatRange):
    """A number between bounds, and not NaN, which every bound lets pass."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if number != number:
            self.fail(f"{value!r} is not a number from {self.min} to {self.max}.", param, ctx)
        return number


LEARNER = _Learner()
FILE = click.Path(readable=False)  # whether it can be read is told by whoever reads it
DATA = _Data(readable=False)

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of text; see docs/json.md."
)
target = click.option(
    "--target",
    metavar="COL",
    help="Column of labels, by name or number, or a question about one such as 'delay > 15' or "
    '"cover == 2"; the last column by default.',
)
classes = click.option(
    "--classes", metavar="A,B,…", help="Keep only rows of these classes, separated by commas."
)
bad_rows = click.option(
    "--bad-rows",
    type=FILE,
    metavar="fail|skip|FILE",
    default="fail",
    show_default=True,
    help="Rows that cannot be read: an error; left out and counted; or that, and listed in FILE.",
)
columns = click.option(
    "--column",
    "columns",
    metavar="NAME=KIND",
    multiple=True,
    help="Read a column as number, truth, date, parts (of a date), text (one feature per text), "
    "text:50 (the most frequent), hash or hash:BINS, words (counted), or drop it.",
)

strict_drift = click.option(
    "--strict", is_flag=True,
    help="Exit with 3 where DATA holds texts that were not in the fit, or columns that the model "
    "does not know.",
)  # fmt: skip

base = click.option(
    "--base",
    type=click.Choice(["0", "1"]),
    help="Whether svmlight features count from 0 or from 1, where the file does not tell.",
)

READING = ("format", "delimiter", "quote", "decimal", "thousands", "header", "skip", "encoding",
           "missing", "fill", "n_features", "memory", "cache")  # fmt: skip

reading = click.option(
    "--read",
    "reading",
    metavar="NAME=VALUE",
    multiple=True,
    help="How to read DATA, where it should not be judged, such as encoding=latin-1, skip=2 or "
    f"delimiter=tab: {', '.join(READING)}, as in linsep.read. May be given several times.",
)


def split_classes(text: str | None) -> list[str] | None:
    """The classes in '--classes 0,1'."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",") if part.strip()]
    if len(names) < 2:
        raise click.BadParameter(
            f"{text!r} names {len(names)}; give two or more, such as 0,1.", param_hint="--classes"
        )
    return names


def split_columns(pairs: tuple[str, ...]) -> dict[str, str] | None:
    """The kinds in '--column city=hash'."""
    kinds = {}
    for pair in pairs:
        name, sign, kind = pair.rpartition("=")
        if not sign or not name:
            raise click.BadParameter(f"{pair!r}; give NAME=KIND.", param_hint="--column")
        kinds[name] = kind
    return kinds or None


_SIGNS = {"tab": "\t", "space": " ", "comma": ",", "point": ".", "semicolon": ";", "bar": "|"}


def how_to_read(
    columns: tuple[str, ...] = (), base: str | None = None, reading: tuple[str, ...] = ()
) -> dict[str, Any]:
    """What --column, --base and --read ask of `linsep.read`.

    >>> how_to_read(("city=hash",), "0", ("skip=2", "missing=-,none", "missing=-99"))
    {'skip': 2, 'missing': ['-', 'none', '-99'], 'columns': {'city': 'hash'}, 'base': 0}
    """
    options: dict[str, Any] = {}
    for pair in reading:
        name, sign, text = pair.partition("=")
        if not sign or name not in READING:
            raise click.BadParameter(
                f"{pair!r}; give NAME=VALUE, with a name of {', '.join(READING)}.",
                param_hint="--read",
            )
        given = _read_value(name, text)
        options[name] = [*options.get(name, []), *given] if name == "missing" else given
    kinds = split_columns(columns)
    options |= {} if kinds is None else {"columns": kinds}
    return options | ({} if base is None else {"base": int(base)})


def _read_value(name: str, text: str) -> Any:
    if name in ("header", "skip", "n_features", "memory"):
        number, wanted = value(text), "a whole number >= 0"
        fine = type(number) is int and number >= 0
        if name == "header":
            fine, wanted = isinstance(number, bool), "true or false"
        if not fine:
            raise click.BadParameter(f"{name} is {text!r}; give {wanted}.", param_hint="--read")
        return number
    if name in ("delimiter", "quote", "decimal", "thousands"):
        text = _SIGNS.get(text, text)
        if len(text) != 1:
            raise click.BadParameter(
                f"{name} is {text!r}; give one character, or one of {', '.join(_SIGNS)}.",
                param_hint="--read",
            )
        return text
    return text.split(",") if name == "missing" else text


_OPTIONS = (
    (r"pass base=(\d)", r"pass --base \1"),
    (r"bad_rows='skip'", "--bad-rows skip"),
    (r"pass (encoding)='([\w-]+)'", r"pass --read \1=\2"),
    (r"pass (skip|n_features)=", r"pass --read \1=NUMBER"),
    (r"([pP])ass header=True", r"\1ass --read header=true"),
    (r"([pP])ass header=False", r"\1ass --read header=false"),
    (r"pass quote=", "pass --read quote=SIGN"),
    (r"pass delimiter=('[^']*')", r"pass --read delimiter=\1"),
    (r"pass delimiter= ", "pass --read delimiter=SIGN "),
    (r"\b(decimal|thousands)='([.,])'", r"--read \1=\2"),
    (r"pass cache=", "pass --read cache=FOLDER"),
    (r"columns=\{\.\.\.: '(\w+)'\}", r"--column NAME=\1"),
    (r"columns=\{'([^']*)': '(\w+)'\}", r"--column '\1=\2'"),
    (r"^columns (names|says|drops)", r"--column \1"),
    (r"^classes is", "--classes is"),
    (r"\S*linsep-[^/\\\s]+[/\\]stdin\b", "standard input"),  # where it was kept meanwhile
    (r"^target is", "--target is"),
    (r"\(StandardScaler does\)|\(linsep\.Scaled does\)", "(--scale mean does)"),
    (r"certify \(linsep\.separability\)", "linsep certify"),
    (r", and proof_ holds the proof", ", as linsep certify proves"),
    (r" \(proof_ holds it\)", " (linsep certify shows it)"),
    (r"keep='pocket' or 'average'", "-p keep=pocket or -p keep=average"),
    (r"\b(keep|solver)='([\w-]+)'", r"-p \1=\2"),
    (r"use LinearSVC", "use --learner LinearSVC"),
    (
        r"LinearDiscriminantAnalysis\(shrinkage='auto'\)",
        "--learner LinearDiscriminantAnalysis -p shrinkage=auto",
    ),
)


def spelled(command: str, data: str, **options: Any) -> str:
    """A command as it is to be typed; options that are None or empty are left out.

    >>> spelled("fit", "a b.csv", target="delay > 15", column=("date=drop", "city=hash"), base=None)
    "linsep fit 'a b.csv' --target 'delay > 15' --column date=drop --column city=hash"
    """
    words = ["linsep", command, data]
    for name, given in options.items():
        several = given if isinstance(given, tuple) else () if given is None else (given,)
        for one in several:
            words += [f"--{name.replace('_', '-')}", str(one)]
    return shlex.join(words)


def in_options(text: str) -> str:
    """What an error of `linsep.read` or the end of a fit asks for, in words of the command line.

    >>> in_options("Pass columns={'city': 'hash'}, or bad_rows='skip'; pass base=0.")
    "Pass --column 'city=hash', or --bad-rows skip; pass --base 0."
    >>> in_options("/tmp/linsep-8ri5dbnk/stdin, line 3: the row has 2 cells.")
    'standard input, line 3: the row has 2 cells.'
    >>> in_options("Use solver='exact'. Bring the features to one scale (linsep.Scaled does).")
    'Use -p solver=exact. Bring the features to one scale (--scale mean does).'
    """
    for python, option in _OPTIONS:
        text = re.sub(python, option, text)
    return text


def one_line(text: str) -> str:
    """A text in which the ends of lines and other signs that move the cursor are written out.

    >>> one_line("two\\nlines")
    'two\\\\nlines'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def make_learner(name: str, pairs: tuple[str, ...], **more: Any) -> Any:
    """The learner with the parameters of '-p name=value'."""
    import linsep

    kind = getattr(linsep, name)
    known = list(inspect.signature(kind).parameters)
    given = dict(more)
    for pair in pairs:
        parameter, sign, text = pair.partition("=")
        if not sign:
            raise click.BadParameter(f"{pair!r}; give name=value.", param_hint="-p")
        if parameter not in known:
            near = difflib.get_close_matches(parameter, known, 1)
            hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}."
            raise click.BadParameter(f"{name} has no parameter {parameter!r}. {hint}",
                                     param_hint="-p")  # fmt: skip
        given[parameter] = value(text)
    return kind(**{key: one for key, one in given.items() if key in known})


def value(text: str) -> Any:
    """A number, true, false, none, inf, a JSON list or object; anything else is a text.

    >>> [value(t) for t in ("3", "0.5", "inf", "true", "none", "rbf", "[1, 2]")]
    [3, 0.5, inf, True, None, 'rbf', [1, 2]]
    """
    plain = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in plain:
        return plain[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    if text[:1] in ("[", "{", '"'):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text
