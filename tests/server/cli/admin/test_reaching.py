"""How a deployment's database is found: by its DSN, where it runs, or at rest."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.platform.postgres.bundled import bundled_postgres
from server.platform.postgres.bundled.neighbour import running_dsn
from server.platform.postgres.config import DatabaseConfig
from server.storage import prepare
from tests.postgres import open_directory
from tests.server.cli.admin.conftest import Operator
from tests.server.cli.conftest import Gnomon


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """The data directory of a deployment with three partitions, which is at rest."""
    with open_directory() as directory:
        with bundled_postgres(DatabaseConfig(data_directory=directory)) as dsn:
            asyncio.run(prepare(dsn, 3))
        yield directory


@pytest.fixture
def at(directory: Path) -> Operator:
    return Operator({"GNOMON_DATA_DIR": str(directory)})


def numbers(listed: dict[str, list[dict[str, int]]]) -> list[int]:
    return [each["partitionId"] for each in listed["items"]]


def test_a_deployment_at_rest_is_woken_for_a_command(at: Operator, directory: Path) -> None:
    listed = at("partitions", "--json").json

    assert numbers(listed) == [1, 2, 3]
    assert running_dsn(DatabaseConfig(data_directory=directory)) is None


def test_a_deployment_that_runs_is_reached_where_it_runs(directory: Path) -> None:
    with bundled_postgres(DatabaseConfig(data_directory=directory)):
        ended = Gnomon({"GNOMON_DATA_DIR": str(directory)})("admin", "partitions", "--json")

    assert numbers(ended.json) == [1, 2, 3]


def test_what_a_dead_server_has_left_is_no_server(at: Operator, directory: Path) -> None:
    (data,) = (directory / "postgres").glob("data-*")
    left = "1\n/data\n0\n5432\n/nowhere\n\n0 0\nready   \n"
    (data / "postmaster.pid").write_text(left)

    found = running_dsn(DatabaseConfig(data_directory=directory))
    listed = at("partitions", "--json").json

    assert found is None
    assert numbers(listed) == [1, 2, 3]


def test_a_deployment_is_backed_up_while_it_runs(at: Operator, directory: Path, tmp_path: Path) -> None:
    with bundled_postgres(DatabaseConfig(data_directory=directory)):
        ended = at("backup", str(tmp_path / "dump"))

    assert ended.exit_code == 0, ended.errors


def test_a_backup_is_restored_where_there_was_no_deployment(at: Operator, tmp_path: Path) -> None:
    at("backup", str(tmp_path / "dump"))

    with open_directory() as elsewhere:
        there = Operator({"GNOMON_DATA_DIR": str(elsewhere)})
        restored = there("restore", str(tmp_path / "dump"), "--json").json
        verified = there("verify")

    assert numbers(restored) == [1, 2, 3]
    assert verified.exit_code == 0, verified.output


def test_a_file_of_settings_names_the_database(directory: Path, tmp_path: Path) -> None:
    file = tmp_path / "gnomon.toml"
    file.write_text(f'[database]\ndata_directory = "{directory}"\n[edge]\nport = 0\n')

    listed = Operator({})("partitions", "--config", str(file), "--json").json

    assert numbers(listed) == [1, 2, 3]


def test_where_there_is_no_deployment_none_is_made(tmp_path: Path) -> None:
    ended = Operator({"GNOMON_DATA_DIR": str(tmp_path / "nowhere")})("partitions")

    assert (ended.exit_code, ended.output) == (2, "")
    assert "expected database.dsn, or the data of a deployment in" in ended.errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command", [["partitions"], ["verify"], ["migrations"], ["backup", "dump"], ["restore", "Makefile"]]
)
@pytest.mark.parametrize(
    "dsn",
    [
        pytest.param("postgresql://gnomon:hush@127.0.0.1:1/gnomon", id="nobody there"),
        pytest.param("postgresql://gnomon:hush@127.0.0.1:hush/gnomon", id="no port"),
    ],
)
def test_a_database_that_cannot_be_reached_is_told_in_one_line(dsn: str, command: list[str]) -> None:
    ended = Operator({"GNOMON_DATABASE__DSN": dsn})(*command)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.errors.startswith("error: cannot reach the database")
    assert len(ended.errors.splitlines()) == 1
    assert "hush" not in ended.errors


def test_a_setting_that_is_unknown_is_told_in_one_line() -> None:
    ended = Operator({"GNOMON_DATABASE__DNS": "postgresql://"})("partitions")

    assert (ended.exit_code, ended.output) == (2, "")
    assert "unknown key database.dns" in ended.errors
