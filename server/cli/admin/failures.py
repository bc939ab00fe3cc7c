"""Exit of a command that could not start (exit code 2) or failed (1).

Exception
├── CannotBegin   a setting, a file, a database that cannot be reached
└── Failed        the requested change was not made
"""

from typing import NoReturn

import typer

from server.cli.failures import REFUSED


class CannotBegin(Exception):
    """The command cannot start; the message says what is missing."""


class Failed(Exception):
    """The command failed; the message says why and what remained unchanged."""


def fail(reason: object) -> NoReturn:
    """Exit from a command that failed."""
    typer.echo(f"error: {' '.join(str(reason).split())}", err=True)
    raise typer.Exit(REFUSED)
