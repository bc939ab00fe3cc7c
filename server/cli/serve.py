"""`gnomon serve`: run the server until SIGTERM or SIGINT."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.failures import give_up
from server.platform import collector
from server.platform.policy import Mode


def serve(
    mode: Annotated[Mode | None, typer.Option(help="Mode; that of the file if omitted.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file; environment variables override it.")] = None,
    owned: Annotated[bool, typer.Option("--owned", hidden=True)] = False,  # noqa: FBT002  # as typer has it
) -> None:
    # `--help` needs no server modules, which take seconds to import.
    with collector.paused():
        from server.cli.process import CannotServe, run  # noqa: PLC0415

    try:
        run(config, mode, is_owned=owned)
    except CannotServe as error:
        give_up(error)
