"""One owner at a time, and no server without one."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.platform.postgres.bundled import PostgresError, lock
from server.platform.postgres.bundled.installation import kept_installation
from server.platform.postgres.bundled.programs import Programs
from tests.server.platform.postgres.conftest import (
    ACCOUNT,
    END_SECONDS,
    START_SECONDS,
    owner_process,
    query,
    served,
)

STATUS_LINES = "\n\n\n\n\n\n\nready   \n"


def data(directory: Path) -> Path:
    return directory / "postgres" / "data-18"


def await_end_of_server(directory: Path) -> None:
    """TimeoutError when a process of a server is left."""
    with lock.opened(directory / "postgres" / "server.lock") as descriptor:
        lock.take(descriptor, seconds=END_SECONDS)


def await_path(path: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path}"
        os.sched_yield()


def programs(directory: Path, *, inherited: int) -> Programs:
    return Programs(kept_installation(None, directory / "postgres"), ACCOUNT, inherited, data(directory))


def start_by_hand(directory: Path, *, inherited: int) -> None:
    """A server that does not end with its owner."""
    options = "-c listen_addresses= -c unix_socket_directories=."
    arguments = ("start", "-w", "-D", data(directory), "-o", options)
    programs(directory, inherited=inherited).run("pg_ctl", *arguments, seconds=START_SECONDS)


@pytest.fixture
def foreign_server(directory: Path) -> Iterator[str]:
    """The process id of one that knows nothing of our locks."""
    with Path(os.devnull).open() as nothing:
        start_by_hand(directory, inherited=nothing.fileno())
        yield (data(directory) / "postmaster.pid").read_text().split()[0]
        stop = ("stop", "-D", data(directory), "-m", "fast")
        programs(directory, inherited=nothing.fileno()).run("pg_ctl", *stop, seconds=START_SECONDS)


@pytest.fixture
def other_process() -> Iterator[int]:
    """The id of a process of the server's account that is no server."""
    with subprocess.Popen(["sleep", "60"], user=ACCOUNT.uid, group=ACCOUNT.gid) as process:  # noqa: S607  # any does
        yield process.pid
        process.kill()


def test_a_server_is_gone_when_its_block_ends(directory: Path) -> None:
    with served(directory):
        pass

    await_end_of_server(directory)
    assert not (data(directory) / "postmaster.pid").exists()


async def test_a_restart_keeps_what_was_committed(directory: Path) -> None:
    with served(directory) as dsn:
        await query(dsn, "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (7) RETURNING id")

    with served(directory) as dsn:
        found = await query(dsn, "SELECT id FROM kept")
        await query(dsn, "DROP TABLE kept", "SELECT 1")

    assert found == 7


async def test_a_second_owner_is_refused_and_the_first_goes_on(dsn: str, directory: Path) -> None:
    with pytest.raises(PostgresError, match=f"{directory}.* in use by another Gnomon, process {os.getpid()}"):
        served(directory).__enter__()

    assert await query(dsn, "SELECT 1") == 1


async def test_a_server_ends_when_its_owner_is_killed(directory: Path) -> None:
    with owner_process(directory) as owner:
        assert owner.stdout is not None
        assert await query(owner.stdout.readline().strip(), "SELECT 1") == 1
        owner.kill()

    await_end_of_server(directory)


async def test_what_a_killed_owner_committed_is_there_at_the_next_start(directory: Path) -> None:
    with owner_process(directory) as owner:
        assert owner.stdout is not None
        dsn = owner.stdout.readline().strip()
        await query(dsn, "CREATE TABLE committed (id int)", "INSERT INTO committed VALUES (7) RETURNING id")
        owner.kill()

    with served(directory) as dsn:
        found = await query(dsn, "SELECT id FROM committed")
        await query(dsn, "DROP TABLE committed", "SELECT 1")

    assert found == 7


async def test_a_server_that_outlived_its_owner_is_ended_by_the_next(directory: Path) -> None:
    with lock.opened(directory / "postgres" / "server.lock") as descriptor:
        assert lock.is_taken(descriptor)
        start_by_hand(directory, inherited=descriptor)

    with served(directory) as dsn:
        found = await query(dsn, "SELECT 1")

    assert found == 1


def test_a_server_that_somebody_else_has_started_is_left_alone(directory: Path, foreign_server: str) -> None:
    with pytest.raises(PostgresError, match=f"process {foreign_server}, which somebody else has started"):
        served(directory).__enter__()

    assert (data(directory) / "postmaster.pid").read_text().startswith(foreign_server)


async def test_a_process_that_has_the_number_of_a_dead_server_is_no_hindrance(
    directory: Path, other_process: int
) -> None:
    (data(directory) / "postmaster.pid").write_text(f"{other_process}{STATUS_LINES}")

    with served(directory) as dsn:
        found = await query(dsn, "SELECT 1")

    assert found == 1


def test_an_interrupt_at_the_terminal_is_for_the_owner_alone(directory: Path) -> None:
    with served(directory):
        process_id = int((data(directory) / "postmaster.pid").read_text().split()[0])

        assert os.getpgid(process_id) != os.getpgid(0)


async def test_a_first_start_that_was_killed_is_begun_anew(empty_directory: Path) -> None:
    draft = empty_directory / "postgres" / "data-18.new"
    with owner_process(empty_directory) as owner:
        await_path(draft / "PG_VERSION")
        owner.kill()
    assert draft.exists()

    with served(empty_directory) as dsn:
        found = await query(dsn, "SELECT 1")

    assert found == 1
    assert not draft.exists()
