"""A server that does not do what it should, and one in an unusual place."""

import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from server.platform.postgres.bundled import PostgresError, bundled_postgres
from server.platform.postgres.config import DatabaseConfig
from tests.server.platform.postgres import fakes
from tests.server.platform.postgres.conftest import ACCOUNT, served, with_data

LONG_NAME = "d" * 120


def config(directory: Path, home: Path) -> DatabaseConfig:
    return DatabaseConfig(data_directory=directory, installation=home, start_seconds=1.0, stop_seconds=1.0)


@pytest.fixture
def unknown_setting(directory: Path) -> Iterator[str]:
    file = directory / "postgres" / "data-18" / "postgresql.auto.conf"
    before = file.read_text()
    file.write_text("no_such_setting = 1\n")
    yield "no_such_setting"
    file.write_text(before)


def test_a_server_that_ends_at_its_start_is_quoted(directory: Path, unknown_setting: str) -> None:
    with pytest.raises(PostgresError, match=f'ended with 1 at its start:(.|\n)*"{unknown_setting}"'):
        served(directory).__enter__()


def test_a_server_that_does_not_get_ready_in_time_is_ended(empty_directory: Path) -> None:
    home = fakes.installation(empty_directory / "fake", postgres=fakes.WAIT)
    with_data(empty_directory)

    with pytest.raises(PostgresError, match=r"not ready within 1 s \(database.start_seconds\)"):
        bundled_postgres(config(empty_directory, home)).__enter__()


def test_a_server_that_does_not_end_when_it_is_asked_is_made_to(
    empty_directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stubborn = f"trap '' INT; {fakes.READY}; {fakes.WAIT}"
    home = fakes.installation(empty_directory / "fake", postgres=stubborn)
    with_data(empty_directory)

    with caplog.at_level(logging.WARNING), bundled_postgres(config(empty_directory, home)):
        pass

    assert {record.message for record in caplog.records} == {"PostgreSQL did not end in time"}


def test_the_socket_is_elsewhere_when_its_path_would_be_too_long(empty_directory: Path) -> None:
    directory = empty_directory / LONG_NAME
    home = fakes.installation(empty_directory / "fake")
    with_data(directory)

    with bundled_postgres(config(directory, home)) as dsn:
        sockets = Path(parse_qs(urlsplit(dsn).query)["host"][0])
        found = sockets.stat()

    assert directory not in sockets.parents
    assert (oct(found.st_mode & 0o777), found.st_uid) == ("0o700", ACCOUNT.uid)
    assert not sockets.exists()


def test_data_without_its_password_is_refused(empty_directory: Path) -> None:
    home = fakes.installation(empty_directory / "fake")
    with_data(empty_directory)
    password = empty_directory / "postgres" / "password"
    password.unlink()

    with pytest.raises(PostgresError, match=f"password of the database in {password}, found none"):
        bundled_postgres(config(empty_directory, home)).__enter__()
