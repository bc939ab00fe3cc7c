"""All commands of `gnomon admin`, each with its name, import path and help."""

import typer

from server.cli.lazy_command import add_command
from server.cli.list_by_default import ListByDefault

admin = typer.Typer(
    help="Operate a durable deployment: its partitions, leases, migrations, backups and history.",
    no_args_is_help=True,
)
partitions = typer.Typer(help="List partitions, or make more of them.", cls=ListByDefault)
leases = typer.Typer(help="List nodes and what they hold, or take a partition from one.", cls=ListByDefault)

admin.add_typer(partitions, name="partitions")
add_command(
    partitions,
    "list",
    "server.cli.admin.partitions:list_partitions",
    "List partitions: who has each, how far it is, and what it holds.",
)
add_command(
    partitions,
    "grow",
    "server.cli.admin.partitions:grow",
    "Raise the number of partitions; nodes take the new ones by themselves. It never gets lower.",
)
admin.add_typer(leases, name="leases")
add_command(
    leases,
    "list",
    "server.cli.admin.leases:list_leases",
    "List nodes with what they hold, and leases with when they expire, by the database's clock.",
)
add_command(
    leases,
    "release",
    "server.cli.admin.leases:release",
    "Take a partition from its owner: a node that has room takes it and recovers it, the same one perhaps.",
)
add_command(
    admin,
    "migrations",
    "server.cli.admin.migrations:migrations",
    "List migrations, those that were applied and those that the database lacks.",
)
add_command(
    admin,
    "backup",
    "server.cli.admin.backup:backup",
    "Write a backup, consistent also while the deployment serves; `gnomon admin restore` reads it.",
)
add_command(
    admin,
    "restore",
    "server.cli.admin.restore:restore",
    "Restore a backup into the deployment's database, which has to be empty; then `gnomon serve` goes on from there.\n\n"
    "Nodes that knew the database before the backup, or since, can write nothing to what was restored.",
)
add_command(
    admin,
    "retention",
    "server.cli.admin.retention:retention",
    "List the weeks of history, and what `history.retention_days` and `history.answer_days` would drop.",
)
add_command(
    admin,
    "verify",
    "server.cli.admin.verify:verify",
    "Check in one snapshot what has to hold between the tables; exit code 1 says that something does not.",
)
