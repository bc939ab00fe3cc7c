"""The location of the database, and settings of the bundled server."""

from dataclasses import dataclass
from pathlib import Path

MOST_POOL_CONNECTIONS = 50

_BOUNDS = {
    "shared_buffers_mib": (16, 1024 * 1024),
    "start_seconds": (1, 24 * 3600),
    "stop_seconds": (1, 3600),
    "pool_connections": (1, MOST_POOL_CONNECTIONS),
    "partition_connections": (1, MOST_POOL_CONNECTIONS),
    "row_connections": (1, MOST_POOL_CONNECTIONS),
}


@dataclass(frozen=True, slots=True)
class DatabaseConfig:
    """[database]: the PostgreSQL database; without a DSN, the bundled PostgreSQL runs in the data directory.

    `installation` is the directory of another PostgreSQL, with `bin/` in it, to run instead of the bundled
    one. `account` is the operating system account that the bundled server switches to if it is started as
    root. Each process has `pool_connections` for searches and as many for the provider,
    `partition_connections` for what commands of its partitions read, and `row_connections` for rows by key,
    stored documents, moves to history and maintenance. Searches therefore delay none of these.
    """

    dsn: str = ""
    data_directory: Path = Path("gnomon-data")
    installation: Path | None = None
    account: str = "nobody"
    shared_buffers_mib: int = 256
    start_seconds: float = 120.0
    stop_seconds: float = 10.0
    pool_connections: int = 10
    partition_connections: int = 4
    row_connections: int = 6

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            found = getattr(self, name)
            if not least <= found <= most:
                raise ValueError(f"{name}: expected {least} to {most}, found {found}")
        if self.dsn and not self.dsn.startswith(("postgresql://", "postgres://")):
            raise ValueError("dsn: expected one that begins with postgresql://")
        if not self.account:
            raise ValueError("account: expected the name of an account, found none")
