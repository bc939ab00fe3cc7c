"""The group `admin`, without its commands: these take half a second to import, which the other commands do not need."""

import typer
from typer.core import TyperGroup


class _Late(TyperGroup):
    """Has its commands from the moment that somebody calls it."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # its base is private
        from server.cli.admin.commands import commands  # noqa: PLC0415  # that is what the class is for

        self.commands = typer.main.get_group(commands).commands
        return super().parse_args(ctx, args)


admin = typer.Typer(
    help="Operate a durable deployment: its partitions, leases, migrations, backups and history.",
    cls=_Late,
    no_args_is_help=True,
)
