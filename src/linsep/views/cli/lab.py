"""`linsep lab`: a local page where runs are asked for, watched and shared."""

from typing import Any

import click

from linsep.views import arguments

PORT = 8808


@click.command("lab", short_help="Open a page: place points, run learners, watch, share.")
@click.argument("opened", metavar="[DATA|TRACE]", required=False, type=arguments.DATA)
@arguments.target
@arguments.classes
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Where the page is on this machine; 0 is any free place.",
)
@click.option("--no-browser", is_flag=True, help="Open no browser; the address is on stderr.")
@arguments.as_json
def command(
    opened: str | None,
    target: str | None,
    classes: str | None,
    port: int,
    no_browser: bool,
    as_json: bool,
) -> None:
    """Open a page where points are placed and learners run on them, step by step.

    With a TRACE (.jsonl, from `linsep fit --trace FILE`) the page plays it. With DATA, a file or an
    embedded set of at most 500 rows and 20 classes, the learners run on its rows; more than two
    features are seen along two axes. All fits are done by the library; the page only draws. It is
    reached from this machine only, and asks for nothing from elsewhere. Ctrl-C ends it.

    \b
    Examples:
      linsep lab
      linsep lab run.jsonl
      linsep lab people.csv --target income --port 0
    """
    from linsep.errors import LinsepError

    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise LinsepError(
            f"The lab needs {problem.name}, which is not installed: pip install linsep[lab]"
        ) from None
    from linsep.views.lab.server import lab, serve

    app = lab(_open(opened, target, classes))
    listener = _listen(port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
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


def _listen(port: int) -> Any:
    import socket

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as problem:
        listener.close()
        raise click.BadParameter(
            f"{port} cannot be had ({problem.strerror}); give another, or 0 for any free one.",
            param_hint="--port",
        ) from None
    listener.listen()
    return listener


def _open(name: str | None, target: str | None, classes: str | None) -> Any:
    from linsep.views.lab.opening import open_rows, open_trace

    if name is None:
        if target is not None or classes is not None:
            raise click.UsageError("--target and --classes are about DATA: give it.")
        return None
    if name.lower().endswith(".jsonl"):
        if target is not None or classes is not None:
            raise click.UsageError("--target and --classes are about DATA, not about a TRACE.")
        return open_trace(name)
    return open_rows(name, target, arguments.split_classes(classes))
