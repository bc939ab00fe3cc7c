"""Commands whose module is imported only when they are called.

Each is listed with its help and import path, so `--help`, `--version` and shell completion import no command.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand


def add_command(group: typer.Typer, name: str, place: str, text: str) -> None:
    """Add a command to a group; `place` is its import path as module:function, `text` its help."""
    group.command(name, help=text, cls=_lazy(place))(_nothing)


def _lazy(place: str) -> type[TyperCommand]:
    class Lazy(TyperCommand):
        """A placeholder that imports the command when it is called or completed.

        The context that it makes is the imported command's.
        """

        def make_context(  # type: ignore[override]  # its base is private
            self, info_name: str | None, args: list[str], parent: typer.Context | None = None, **extra: Any
        ) -> typer.Context:
            alone = typer.Typer(add_completion=False)
            alone.command(self.name, help=self.help)(_imported(place))
            command = typer.main.get_command(alone)
            return command.make_context(info_name, args, parent, **extra)  # type: ignore[return-value]  # its base is private

    return Lazy


def _imported(place: str) -> Callable[..., None]:
    module, _, function = place.partition(":")
    found: Callable[..., None] = getattr(import_module(module), function)
    return found


def _nothing() -> None:
    """Do nothing; the parameters come from the imported command."""
