"""A server as whoever is connected to it sees it."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from tests.server.platform.postgres.conftest import query, served


@pytest.fixture(scope="module")
def dsn(directory: Path) -> Iterator[str]:
    with served(directory) as found:
        yield found


def mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


async def test_the_database_is_ours_and_we_are_no_superuser(dsn: str) -> None:
    found = await query(
        dsn,
        """
        SELECT (current_user, current_database(), pg_get_userbyid(datdba), rolsuper)
        FROM pg_database, pg_roles
        WHERE datname = current_database() AND rolname = current_user
        """,
    )

    assert found == ("gnomon", "gnomon", "gnomon", False)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("data_checksums", "on"),
        ("listen_addresses", ""),
        ("password_encryption", "scram-sha-256"),
        ("max_connections", "200"),
        ("shared_buffers", "256MB"),
        ("max_wal_size", "2GB"),
        ("min_wal_size", "512MB"),
        ("wal_buffers", "16MB"),
        ("wal_compression", "pglz"),
        ("checkpoint_timeout", "15min"),
        ("jit", "off"),
        ("random_page_cost", "1.1"),
        ("idle_in_transaction_session_timeout", "10s"),
        ("lock_timeout", "0"),
        ("server_encoding", "UTF8"),
        ("TimeZone", "UTC"),
    ],
)
async def test_the_server_runs_with_its_settings(dsn: str, setting: str, value: str) -> None:
    assert await query(dsn, f"SHOW {setting}") == value


async def test_text_is_compared_by_what_comes_with_postgresql(dsn: str) -> None:
    found = await query(
        dsn,
        "SELECT (datlocprovider, datlocale) FROM pg_database WHERE datname = current_database()",
    )

    assert found == (b"b", "C.UTF-8")


async def test_trigrams_can_be_indexed(dsn: str) -> None:
    assert (
        await query(dsn, "CREATE EXTENSION IF NOT EXISTS pg_trgm", "SELECT similarity('order', 'order')") == 1
    )


async def test_a_wrong_password_is_refused(dsn: str) -> None:
    password = urlsplit(dsn).password
    assert password

    with pytest.raises(asyncpg.InvalidPasswordError):
        await query(dsn.replace(password, "guessed"), "SELECT 1")


async def test_nobody_else_reaches_the_socket_the_data_or_the_password(dsn: str, directory: Path) -> None:
    (socket_directory,) = parse_qs(urlsplit(dsn).query)["host"]

    assert socket_directory == str(directory / "postgres" / "socket")
    assert mode(Path(socket_directory)) == mode(directory / "postgres" / "data-18") == "0o700"
    assert mode(directory / "postgres" / "password") == "0o600"


async def test_the_server_logs_no_values_of_rows(dsn: str, directory: Path) -> None:
    refused = "INSERT INTO entered SELECT 'so' || 'mething' FROM generate_series(1, 2)"
    with pytest.raises(asyncpg.UniqueViolationError):
        await query(dsn, "CREATE TEMPORARY TABLE entered (text text UNIQUE)", refused)

    (log,) = (directory / "postgres" / "log").iterdir()
    assert "entered_text_key" in log.read_text()
    assert "something" not in log.read_text()
