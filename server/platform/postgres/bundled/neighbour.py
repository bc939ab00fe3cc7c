"""The server that another process runs in the same data directory.

`postmaster.pid` is enough to find it. The owner's lock is left alone, so that a process that is about to start can take
it.
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

# Lines of the file, counted from 0.
_PORT, _SOCKETS, _STATUS = 3, 4, 7
_CONNECT_SECONDS = 5.0


def has_data(config: DatabaseConfig) -> bool:
    """Whether there was a first start. Raises PostgresError for a directory of another account."""
    return bool(_layout(config).majors())


def running_dsn(config: DatabaseConfig) -> str | None:
    """The DSN of a server that is ready there, which holds the password; None when none is. Raises PostgresError."""
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
    """Nothing when there is no file; the account of the server may have put a link there to what only root may read."""
    with suppress(OSError), os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW)) as opened:
        return [line.strip() for line in opened]
    return []


def _answers(path: Path) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_CONNECT_SECONDS)
        client.connect(str(path))
        return True
    return False
