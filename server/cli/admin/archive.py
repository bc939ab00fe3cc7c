"""Recognizes backups of a deployment."""

from pathlib import Path

from server.cli.admin.failures import Failed
from server.cli.admin.programs import run
from server.platform.postgres.config import DatabaseConfig

_OUR_TABLE = " TABLE gnomon partition "


async def expect_backup(file: Path, config: DatabaseConfig) -> None:
    """Raise Failed for a file that PostgreSQL cannot read or that is not a backup of a deployment."""
    contents = await run("pg_restore", "--list", file, config=config)
    if _OUR_TABLE not in contents:
        raise Failed(f"{file} is not a backup of a deployment: it has no table of partitions")
