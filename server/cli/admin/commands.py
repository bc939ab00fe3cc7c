"""All commands of `gnomon admin`, each with its name."""

import typer

from server.cli.admin.backup import backup
from server.cli.admin.leases import list_leases, release
from server.cli.admin.migrations import migrations
from server.cli.admin.partitions import grow, list_partitions
from server.cli.admin.restore import restore
from server.cli.admin.retention import retention
from server.cli.admin.verify import verify
from server.cli.list_by_default import ListByDefault

commands = typer.Typer()
partitions = typer.Typer(help="List partitions, or make more of them.", cls=ListByDefault)
leases = typer.Typer(help="List nodes and what they hold, or take a partition from one.", cls=ListByDefault)

commands.add_typer(partitions, name="partitions")
partitions.command("list")(list_partitions)
partitions.command("grow")(grow)
commands.add_typer(leases, name="leases")
leases.command("list")(list_leases)
leases.command("release")(release)
commands.command("migrations")(migrations)
commands.command("backup")(backup)
commands.command("restore")(restore)
commands.command("retention")(retention)
commands.command("verify")(verify)
