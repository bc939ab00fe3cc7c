from pathlib import Path

import pytest

from server.platform.postgres import bundled
from server.platform.postgres.bundled import PostgresError
from server.platform.postgres.bundled.installation import kept_installation, older_installation
from tests.server.platform.postgres import fakes


def test_the_notice_of_postgresql_comes_with_the_package() -> None:
    notice = (Path(bundled.__file__).parent / "COPYRIGHT").read_text()

    assert "Portions Copyright (c) 1996-2026, PostgreSQL Global Development Group" in notice
    assert "THE UNIVERSITY OF CALIFORNIA SPECIFICALLY DISCLAIMS ANY WARRANTIES" in notice


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a copy of the wheel."""
    directory = tmp_path_factory.mktemp("beside")
    kept_installation(None, directory)
    return directory


def test_the_wheel_is_copied_once(beside: Path) -> None:
    (copy,) = beside.iterdir()
    made = copy.stat().st_ino

    found = kept_installation(None, beside)

    assert copy.name == f"bin-{found.version}"
    assert copy in found.home.parents
    assert copy.stat().st_ino == made


def test_another_build_of_the_same_version_replaces_the_copy(beside: Path) -> None:
    program = kept_installation(None, beside).program("postgres")
    program.write_bytes(b"another build")
    (beside / "bin.new" / "what an interrupted copy has left").mkdir(parents=True)

    kept_installation(None, beside)

    assert program.stat().st_size > 1_000_000
    assert [path.name for path in beside.rglob("*left")] == []


def test_the_kept_copy_can_be_named_as_the_installation(beside: Path) -> None:
    copied = kept_installation(None, beside)

    assert kept_installation(copied.home, beside) == copied
    assert copied.program("postgres").exists()


def test_an_installation_of_ones_own_is_used_where_it_is(tmp_path: Path) -> None:
    home = fakes.installation(tmp_path / "own")

    found = kept_installation(home, tmp_path)

    assert (found.home, found.version, found.major) == (home, "18.6", 18)
    assert (tmp_path / "bin-18.6").readlink() == home


def test_one_installation_of_each_major_version_is_kept(tmp_path: Path) -> None:
    for version in ("17.9", "17.10", "18.5", "18.6"):
        kept_installation(fakes.installation(tmp_path / version, version=version), tmp_path)

    assert sorted(path.name for path in tmp_path.glob("bin-*")) == ["bin-17.10", "bin-18.6"]
    assert older_installation(17, tmp_path).version == "17.10"


@pytest.mark.parametrize(
    ("version", "refusal"),
    [
        pytest.param("16.14", "expected PostgreSQL 17 or later in .*16.14", id="too old"),
        pytest.param("of my own", "expected PostgreSQL 17 or later in .*of my own", id="no version"),
    ],
)
def test_an_installation_that_cannot_be_used_is_refused(tmp_path: Path, version: str, refusal: str) -> None:
    home = fakes.installation(tmp_path / "own", version=version)

    with pytest.raises(PostgresError, match=refusal):
        kept_installation(home, tmp_path)


def test_a_path_without_an_installation_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        PostgresError, match=f"expected a PostgreSQL installation in {tmp_path}/wrong, found no bin/postgres"
    ):
        kept_installation(tmp_path / "wrong", tmp_path)


def test_an_installation_that_does_not_run_is_named(tmp_path: Path) -> None:
    home = fakes.installation(tmp_path / "own")
    (home / "bin" / "postgres").write_text("#!/no/such/shell\n")

    with pytest.raises(PostgresError, match=f"cannot run {home}/bin/postgres"):
        kept_installation(home, tmp_path)


def test_binaries_that_are_needed_for_an_upgrade_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(PostgresError, match=f"PostgreSQL 17's, .* expected them in {tmp_path}/bin-17"):
        older_installation(17, tmp_path)
