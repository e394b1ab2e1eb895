"""The command-line reference, written from the commands themselves."""

from pathlib import Path
from typing import Any

import click


def command_line() -> str:
    """Every command with its usage, its words and its options, as Markdown."""
    from linsep.views.cli import Commands, group

    commands = Commands()
    parts = []
    for name in commands.list_commands(click.Context(group)):
        command = commands.get_command(click.Context(group), name)
        if command is not None:
            parts.append(_command(name, command))
    return "\n".join(parts)


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"linsep {name}")
    pieces = " ".join(command.collect_usage_pieces(context))
    lines = [f"## `linsep {name}`", "", "```text", f"linsep {name} {pieces}", "```", ""]
    lines += [_words(command.help or ""), ""]
    options = [one for one in command.params if isinstance(one, click.Option)]
    if options:
        lines += ["| option | what it does |", "|---|---|"]
        lines += [_option(one, context) for one in options]
    return "\n".join([*lines, ""])


def _words(text: str) -> str:
    """Help as paragraphs; those marked \\b keep their lines."""
    parts = []
    for paragraph in text.split("\n\n"):
        if "\b" in paragraph:
            body = paragraph.replace("\b", "").strip("\n")
            parts.append(f"```text\n{body}\n```")
        else:
            parts.append(" ".join(paragraph.split()).replace("<", "&lt;"))
    return "\n\n".join(parts)


def _option(option: Any, context: click.Context) -> str:
    record = option.get_help_record(context)
    names, words = record if record else ("/".join(option.opts), option.help or "")
    return f"| `{names.replace('|', chr(92) + '|')}` | {words.replace('|', chr(92) + '|')} |"


def write_command_line(folder: Path) -> None:
    """Put the reference where the page includes it from."""
    folder.mkdir(exist_ok=True)
    (folder / "commands.md").write_text(command_line(), encoding="utf-8")
