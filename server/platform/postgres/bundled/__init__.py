"""A PostgreSQL server that the program runs itself, in its data directory.

Each directory has one owner. The server stops when its owner ends, even after a crash.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from server.platform.postgres.bundled import cluster, upgrade
from server.platform.postgres.bundled.account import server_account
from server.platform.postgres.bundled.errors import PostgresError
from server.platform.postgres.bundled.installation import kept_installation
from server.platform.postgres.bundled.layout import Layout, laid_out, socket_directory
from server.platform.postgres.bundled.lock import opened, owner_lock
from server.platform.postgres.bundled.orphans import end_orphans
from server.platform.postgres.bundled.process import Server, running
from server.platform.postgres.bundled.programs import Programs
from server.platform.postgres.bundled.settings import options
from server.platform.postgres.config import DatabaseConfig

__all__ = ["BundledPostgres", "PostgresError", "bundled_postgres", "bundled_server"]


@dataclass(frozen=True, slots=True)
class BundledPostgres:
    """A running server; its DSN contains the password and survives restarts of the server."""

    dsn: str
    server: Server


@contextmanager
def bundled_postgres(config: DatabaseConfig) -> Iterator[str]:
    """Run the server for the duration of the block; yields its DSN with the password. Raises PostgresError.

    Call it in the main thread: the server stops when the thread that started it ends.
    """
    with bundled_server(config) as bundled:
        yield bundled.dsn


@contextmanager
def bundled_server(config: DatabaseConfig) -> Iterator[BundledPostgres]:
    """Like `bundled_postgres`, for callers that restart the server if it stops."""
    with ExitStack() as stack:
        try:
            bundled = stack.enter_context(_served(config))
        except OSError as error:
            raise PostgresError(f"cannot run PostgreSQL in {config.data_directory}: {error}") from error
        yield bundled


@contextmanager
def _served(config: DatabaseConfig) -> Iterator[BundledPostgres]:
    account = server_account(config.account)
    layout = laid_out(config.data_directory, account)
    with ExitStack() as stack:
        stack.enter_context(owner_lock(layout.owner_lock))
        server_lock = stack.enter_context(opened(layout.server_lock))
        sockets = stack.enter_context(socket_directory(layout, account))
        installation = kept_installation(config.installation, layout.root)
        programs = Programs(installation, account, server_lock, sockets)
        end_orphans(layout, programs, seconds=config.start_seconds)
        _provide_data(layout, programs, config=config)
        settings = options(config.shared_buffers_mib, sockets=sockets, logs=layout.logs)
        data = layout.data(installation.major)
        server = stack.enter_context(running(data, settings, programs=programs, layout=layout, config=config))
        password = quote(cluster.password_in(layout.password), safe="")
        host = urlencode({"host": sockets})
        dsn = f"postgresql://{cluster.ROLE}:{password}@/{cluster.DATABASE}?{host}"
        yield BundledPostgres(dsn, server)


def _provide_data(layout: Layout, programs: Programs, *, config: DatabaseConfig) -> None:
    """Create the data at the first start, or upgrade the data of an older version."""
    majors, wanted = layout.majors(), programs.installation.major
    if not majors:
        cluster.make_password(layout.password, programs.account)
        cluster.create(
            layout.data(wanted), programs=programs, password=layout.password, seconds=config.start_seconds
        )
    elif not layout.password.exists():
        raise PostgresError(
            f"expected the password of the database in {layout.password}, found none: restore it"
        )
    elif majors[-1] > wanted:
        raise PostgresError(
            f"the data in {layout.root} is PostgreSQL {majors[-1]}'s, the installation is {programs.installation.version}: "
            f"use a later one, or move {layout.data(majors[-1])} away to go back to what was before"
        )
    elif majors[-1] < wanted:
        upgrade.take_over(majors[-1], programs=programs, layout=layout, config=config)
