"""The table of commands of docs/command-line.md, as the command line itself has them."""

from collections.abc import Iterator

import typer
from typer.core import TyperGroup
from typer.main import get_command

from server.cli.app import app

BEGIN = "<!-- commands: generated, `make golden` -->\n"
END = "<!-- /commands -->\n"


def command_table() -> str:
    context = get_command(app).make_context("gnomon", [], resilient_parsing=True)
    return "\n".join(["| command | what it does |", "|---|---|", *_rows(context), ""])


def _rows(context: typer.Context) -> Iterator[str]:
    group = context.command
    if not isinstance(group, TyperGroup):
        yield _row(context)
        return
    for name, command in group.commands.items():
        yield from _rows(command.make_context(name, [], context, resilient_parsing=True))


def _row(context: typer.Context) -> str:
    arguments = context.command.collect_usage_pieces(context)[1:]  # the first one stands for the options
    usage = " ".join(argument.strip("{}").replace("}...", "...").upper() for argument in arguments)
    first = (context.command.help or "").partition("\n\n")[0]
    return f"| `{context.command_path} {usage}".rstrip() + f"` | {first} |"
