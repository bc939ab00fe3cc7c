"""What is in a backup."""

from pathlib import Path

from server.cli.admin.failures import Failed
from server.cli.admin.programs import run
from server.platform.postgres.config import DatabaseConfig

_OUR_TABLE = " TABLE gnomon partition "


async def contents(file: Path, config: DatabaseConfig) -> str:
    """The list of what is in it; raises Failed for a file that is no backup of a deployment."""
    listed = await run("pg_restore", "--list", file, config=config)
    if _OUR_TABLE not in listed:
        raise Failed(f"{file} is no backup of a deployment: no table of partitions is in it")
    return listed
