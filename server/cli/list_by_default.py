"""A command group with `list` as its default command."""

import typer
from typer.core import TyperGroup


class ListByDefault(TyperGroup):
    """Passes arguments to `list` if the first one is not a command."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # its base is private
        is_named = args and args[0] in (*self.commands, *self.get_help_option_names(ctx))
        return super().parse_args(ctx, args if is_named else ["list", *args])
