"""How a command ends that could not begin (exit code 2), or could not be carried out (1).

Exception
├── CannotBegin   a setting, a file, a database that cannot be reached
└── Failed        what was asked for did not happen
"""

from typing import NoReturn

import typer

from server.cli.failures import REFUSED


class CannotBegin(Exception):
    """Says what is missing."""


class Failed(Exception):
    """Says what went wrong, and what is as it was."""


def fail(reason: object) -> NoReturn:
    """End a command that did not do what it was asked."""
    typer.echo(f"error: {' '.join(str(reason).split())}", err=True)
    raise typer.Exit(REFUSED)
