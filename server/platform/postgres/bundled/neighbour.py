"""Finds the server that another process runs in the same data directory.

`postmaster.pid` identifies it. The owner's lock is not touched, so that a starting process can take it.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlencode

from server.platform.postgres.bundled import cluster, pid_file
from server.platform.postgres.bundled.errors import PostgresError
from server.platform.postgres.bundled.layout import Layout
from server.platform.postgres.config import DatabaseConfig

# Line numbers in the file, counted from 0.
_PORT, _SOCKETS, _STATUS = 3, 4, 7
_CONNECT_SECONDS = 5.0


def has_data(config: DatabaseConfig) -> bool:
    """Whether the directory has data from an earlier start. Raises PostgresError if another account owns it."""
    return bool(_layout(config).majors())


def running_dsn(config: DatabaseConfig) -> str | None:
    """Return the DSN of the ready server, with its password, or None without one. Raises PostgresError."""
    layout = _layout(config)
    majors = layout.majors()
    lines = _lines(layout.data(majors[-1]) / pid_file.NAME) if majors else []
    if len(lines) <= _STATUS or lines[_STATUS] != "ready":
        return None
    sockets, port = Path(lines[_SOCKETS]), lines[_PORT]
    if not _answers(sockets / f".s.PGSQL.{port}"):
        return None
    password = quote(cluster.password_in(layout.password), safe="")
    return f"postgresql://{cluster.ROLE}:{password}@/{cluster.DATABASE}?{urlencode({'host': sockets, 'port': port})}"


def _layout(config: DatabaseConfig) -> Layout:
    layout = Layout(config.data_directory.resolve() / "postgres")
    if layout.root.exists() and not os.access(layout.root, os.R_OK | os.X_OK):
        raise PostgresError(f"{layout.root} is another account's: run this as the one that runs Gnomon there")
    return layout


def _lines(file: Path) -> list[str]:
    """Read the lines of a file; none if it is missing.

    Links are not followed: the server's account could have linked a file that only root may read.
    """
    with suppress(OSError), os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW)) as opened:
        return [line.strip() for line in opened]
    return []


def _answers(path: Path) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_CONNECT_SECONDS)
        client.connect(str(path))
        return True
    return False
