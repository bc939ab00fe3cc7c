"""All commands of `gnomon admin`, each with its name, import path and help."""

import typer

from server.cli.lazy_command import add_command
from server.cli.list_by_default import ListByDefault

admin = typer.Typer(
    help="Operate a durable deployment: its partitions, leases, migrations, backups and history.",
    no_args_is_help=True,
)
partitions = typer.Typer(help="List partitions, or add some.", cls=ListByDefault)
leases = typer.Typer(
    help="List nodes and their partitions, or take a partition from a node.", cls=ListByDefault
)

admin.add_typer(partitions, name="partitions")
add_command(
    partitions,
    "list",
    "server.cli.admin.partitions:list_partitions",
    "List partitions with their owners, positions and contents.",
)
add_command(
    partitions,
    "grow",
    "server.cli.admin.partitions:grow",
    "Raise the number of partitions; nodes take the new ones automatically. The number cannot be lowered.",
)
admin.add_typer(leases, name="leases")
add_command(
    leases,
    "list",
    "server.cli.admin.leases:list_leases",
    "List nodes with their partitions, and leases with their expiry by the database's clock.",
)
add_command(
    leases,
    "release",
    "server.cli.admin.leases:release",
    "Take a partition from its owner: a node that has room takes and recovers it, possibly the same one.",
)
add_command(
    admin,
    "migrations",
    "server.cli.admin.migrations:migrations",
    "List applied and missing migrations.",
)
add_command(
    admin,
    "backup",
    "server.cli.admin.backup:backup",
    "Write a backup, which is consistent even while the deployment serves; `gnomon admin restore` reads it.",
)
add_command(
    admin,
    "restore",
    "server.cli.admin.restore:restore",
    "Restore a backup into the deployment's database, which must be empty; then start `gnomon serve`.\n\n"
    "Nodes that used the database before the restore cannot write to the restored one.",
)
add_command(
    admin,
    "retention",
    "server.cli.admin.retention:retention",
    "List the weeks of history, and what `history.retention_days` and `history.answer_days` would delete.",
)
add_command(
    admin,
    "verify",
    "server.cli.admin.verify:verify",
    "Check in one snapshot that the tables are consistent; if a check fails, the exit code is 1.",
)
