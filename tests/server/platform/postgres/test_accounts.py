"""As whom the server runs, and what it leaves alone."""

import os
import pwd
from pathlib import Path

import pytest

from server.platform.postgres.bundled import PostgresError, bundled_postgres
from server.platform.postgres.config import DatabaseConfig
from tests.server.platform.postgres import fakes
from tests.server.platform.postgres.conftest import (
    ACCOUNT,
    START_SECONDS,
    as_root,
    owner_process,
    query,
    served,
)

# Rights of the account named, but for reading what lies below root's own directory, where Python may be.
AS_DAEMON = (
    *("setpriv", "--reuid=daemon", "--regid=daemon", "--clear-groups"),
    *("--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"),
)


def rights(*paths: Path) -> list[tuple[int, int, int]]:
    found = [path.stat() for path in paths]
    return [(status.st_mode, status.st_uid, status.st_gid) for status in found]


def owners(directory: Path) -> set[int]:
    return {path.stat().st_uid for path in directory.rglob("*")}


@as_root
def test_the_server_of_root_is_another_account_in_every_respect(dsn: str, directory: Path) -> None:
    assert dsn
    process_id = (directory / "postgres" / "data-18" / "postmaster.pid").read_text().split()[0]
    status = dict(
        line.split(":\t")
        for line in Path("/proc", process_id, "status").read_text().splitlines()
        if ":\t" in line
    )

    assert status["Uid"].split() == [str(ACCOUNT.uid)] * 4
    assert status["Gid"].split() == [str(ACCOUNT.gid)] * 4
    assert set(status["Groups"].split()) <= {str(gid) for gid in os.getgrouplist(ACCOUNT.name, ACCOUNT.gid)}
    assert int(status["CapEff"], 16) == 0


@as_root
def test_the_account_can_write_nothing_but_the_data_the_logs_and_the_socket(
    dsn: str, directory: Path
) -> None:
    assert dsn
    own = {path.name for path in (directory / "postgres").iterdir() if path.lstat().st_uid == ACCOUNT.uid}

    assert own == {"data-18", "log", "password", "socket"}


@as_root
def test_binaries_are_everybodys_to_run_and_nobodys_to_change(directory: Path) -> None:
    (binaries,) = (directory / "postgres").glob("bin-18.*")
    modes = {oct(path.stat().st_mode & 0o7777) for path in binaries.rglob("*")}

    assert modes == {"0o755", "0o644"}
    assert owners(binaries) == {0}


def test_what_is_not_below_postgres_keeps_its_rights(directory: Path) -> None:
    neighbour = directory / "neighbour"
    neighbour.touch(mode=0o600)
    around = (directory.parent, directory, neighbour)
    before = rights(*around)

    with served(directory):
        during = rights(*around)

    assert before == during == rights(*around)
    assert oct(directory.stat().st_mode & 0o777) == "0o711", "as it was before the first start"


@as_root
def test_a_directory_that_the_account_may_not_enter_is_named(empty_directory: Path) -> None:
    closed = empty_directory / "closed"
    closed.mkdir(mode=0o700)
    home = fakes.installation(empty_directory / "18")

    with pytest.raises(
        PostgresError, match=f"account {ACCOUNT.name} may not enter {closed}:.*chmod o\\+x {closed}"
    ):
        served(closed / "data", home).__enter__()

    assert oct(closed.stat().st_mode & 0o777) == "0o700"


@as_root
def test_an_installation_that_the_account_may_not_enter_is_named(empty_directory: Path) -> None:
    closed = empty_directory / "closed"
    home = fakes.installation(closed / "18")
    closed.chmod(0o700)

    with pytest.raises(PostgresError, match=f"account {ACCOUNT.name} may not enter {closed}:"):
        served(empty_directory, home).__enter__()


@as_root
@pytest.mark.parametrize("account", ["root", "no-such-account"])
def test_an_account_that_cannot_be_used_is_refused(empty_directory: Path, account: str) -> None:
    config = DatabaseConfig(data_directory=empty_directory, account=account)

    with pytest.raises(PostgresError, match=f"database.account .* found '{account}'"):
        bundled_postgres(config).__enter__()


@as_root
def test_data_of_another_account_is_refused(empty_directory: Path) -> None:
    data = empty_directory / "postgres" / "data-18"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("18\n")

    with pytest.raises(PostgresError, match=f"{data} to belong to the account {ACCOUNT.name}, found root"):
        served(empty_directory).__enter__()


@as_root
async def test_without_root_the_server_runs_as_whoever_starts_it(empty_directory: Path) -> None:
    daemon = pwd.getpwnam("daemon")
    os.chown(empty_directory, daemon.pw_uid, daemon.pw_gid)

    with owner_process(empty_directory, *AS_DAEMON) as owner:
        assert owner.stdout is not None
        assert owner.stdin is not None
        found = await query(owner.stdout.readline().strip(), "SELECT 1")
        owner.stdin.close()
        exit_code = owner.wait(START_SECONDS)

    assert (found, exit_code) == (1, 0)
    assert owners(empty_directory) == {daemon.pw_uid}
