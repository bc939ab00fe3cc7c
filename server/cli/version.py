"""`gnomon version`: the version of the distribution."""

from importlib.metadata import version

import typer


def show_version() -> None:
    typer.echo(f"gnomon {version('gnomon')}")
