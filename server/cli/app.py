"""All commands, each with its name."""

from importlib.metadata import version
from typing import Annotated

import typer

from server.cli.admin.group import admin
from server.cli.demo.command import demo
from server.cli.deploy import deploy
from server.cli.dmn import dmn
from server.cli.feel import feel
from server.cli.incidents import list_incidents, resolve
from server.cli.instances import instances
from server.cli.jobs import list_jobs
from server.cli.list_by_default import ListByDefault
from server.cli.serve import serve
from server.cli.start import start
from server.cli.survive.command import survive
from server.cli.work import work

app = typer.Typer(
    help="A process engine and an OpenID Connect provider.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
jobs = typer.Typer(help="Work on jobs, or look at them.", no_args_is_help=True)
incidents = typer.Typer(
    help="List what keeps process instances from going on, or resolve it.", cls=ListByDefault
)

app.command()(serve)
app.command()(deploy)
app.command()(start)
app.command()(instances)
app.add_typer(jobs, name="jobs")
jobs.command("work")(work)
jobs.command("list")(list_jobs)
app.add_typer(incidents, name="incidents")
incidents.command("list")(list_incidents)
incidents.command("resolve")(resolve)
app.command()(demo)
app.command()(dmn)
app.command()(feel)
app.add_typer(admin, name="admin")
app.command()(survive)


def _show_version(is_wanted: bool) -> None:  # noqa: FBT001  # as typer calls it
    if is_wanted:
        typer.echo(f"gnomon {version('gnomon')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A process engine and an OpenID Connect provider."""
