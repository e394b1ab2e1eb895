"""`linsep lab`: a local page where runs are asked for, watched and shared."""

from contextlib import suppress
from typing import Any

import click

from linsep.views import arguments

PORT = 8808  # where it is free


@click.command("lab", short_help="Open a page: place points, run learners, watch, share.")
@click.argument("opened", metavar="[DATA|TRACE]", required=False, type=arguments.DATA)
@arguments.target
@arguments.classes
@click.option("--model", metavar="FILE", help="Show this saved model on the rows of DATA.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Where the page is on this machine: 8808 if that is free, else any, unless given.",
)
@click.option("--no-browser", is_flag=True, help="Open no browser; the address is on stderr.")
@arguments.as_json
def command(
    opened: str | None,
    target: str | None,
    classes: str | None,
    model: str | None,
    port: int | None,
    no_browser: bool,
    as_json: bool,
) -> None:
    """Open a page where points are placed and learners run on them, step by step.

    With the address that somebody shared from their lab, in quotes, it opens what they had.
    With a TRACE (.jsonl, from `linsep fit --trace FILE`) the page plays it. With DATA, a file or a
    built-in set of at most 20 classes, the learners run on its rows, or on an even sample of 2,000;
    more than two features are seen along two axes. All fits are done by the library; the page only
    draws. It is reached from this machine only and asks for nothing from elsewhere. Ctrl-C ends it.

    \b
    Examples:
      linsep lab
      linsep lab run.jsonl
      linsep lab people.csv --target income
      linsep lab new-people.csv --model people.linsep
    """
    _require_server()
    from linsep.views.lab.guard import Keys
    from linsep.views.lab.server import lab, serve

    shared = _shared(opened)
    held = None if shared else _open(opened, target, classes, model)
    listener = _listen(port)
    keys = Keys(listener.getsockname()[1])
    app = lab(held, keys)
    address = f"http://127.0.0.1:{keys.port}/#token={keys.token}{shared}"
    try:
        click.echo(f"The lab is at {address} (Ctrl-C ends it).", err=True)
        if as_json:
            import json

            from linsep import __version__

            click.echo(json.dumps({"command": "lab", "linsep": __version__, "address": address}))
        if not no_browser:
            import webbrowser

            webbrowser.open(address)
        serve(app, listener)
    except KeyboardInterrupt:
        pass  # how it is meant to end
    finally:
        listener.close()
    click.echo("The lab is closed.", err=True)


def _require_server() -> None:
    from linsep.errors import LinsepError

    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] not in ("starlette", "uvicorn"):
            raise
        said = f"The lab needs {problem.name}, which is not installed: pip install linsep[lab]"
        raise LinsepError(said) from None


def _listen(port: int | None) -> Any:
    import socket

    if port is None:  # the same place as last time, so that an open page finds the lab again
        with suppress(click.BadParameter):
            return _listen(PORT)
        port = 0

    # With the protocol named, asyncio sets TCP_NODELAY: without it answers wait 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as problem:
        listener.close()
        raise click.BadParameter(
            f"{port} cannot be had ({problem.strerror}); give another, or 0 for any free one.",
            param_hint="--port",
        ) from None
    listener.listen(1024)
    return listener


def _shared(opened: str | None) -> str:
    """What follows the token in the address, where a shared address was given in place of data."""
    if opened is None or "#v=" not in opened:
        return ""
    return "&" + opened.partition("#")[2]


def _open(name: str | None, target: str | None, classes: str | None, model: str | None) -> Any:
    from linsep.views.lab.opening import open_fitted, open_rows, open_trace

    trace = name is not None and name.lower().endswith(".jsonl")
    if (name is None or trace) and (target or classes or model) is not None:
        said = ", not about a TRACE" if trace else ": give it"
        raise click.UsageError(f"--target, --classes and --model are about DATA{said}.")
    if name is None:
        return None
    if trace:
        return open_trace(name)
    if model is not None:
        return open_fitted(model, name, target, arguments.split_classes(classes))
    return open_rows(name, target, arguments.split_classes(classes))
