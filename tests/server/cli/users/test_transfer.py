"""`gnomon users import` and `gnomon users export`, against a server of each mode."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.cli.conftest import Gnomon
from tests.server.cli.users import realm

KINDS = ("pbkdf2", "pbkdf2-sha256", "pbkdf2-sha512")


@pytest.fixture
def realm_file(tmp_path: Path) -> Path:
    def users() -> Iterator[object]:
        for number in range(1100):
            credential = realm.pbkdf2(KINDS[number % 3]) if number % 4 else realm.argon2()
            yield realm.user(
                f"{tmp_path.name.replace('_', '-')}-{number}"[-60:], credential, groups=["/staff"]
            )

    return realm.write_realm(tmp_path / "realm.json", users())  # type: ignore[arg-type]  # mappings


def test_a_realm_is_imported_once(gnomon: Gnomon, realm_file: Path) -> None:
    arguments = ("users", "import", str(realm_file), "--format", "keycloak", "--create-labels", "--json")

    dry = gnomon(*arguments, "--dry-run").json
    first, second = gnomon(*arguments).json, gnomon(*arguments).json

    assert dry == {"dry_run": True, "created": 1100, "unchanged": 0, "refused": []}
    assert first == {"dry_run": False, "created": 1100, "unchanged": 0, "refused": []}
    assert second == {"dry_run": False, "created": 0, "unchanged": 1100, "refused": []}


def test_a_refused_row_is_told_with_its_line(gnomon: Gnomon, tmp_path: Path) -> None:
    file, report = tmp_path / "users.csv", tmp_path / "refused.csv"
    name = f"row-{tmp_path.name}".lower()
    file.write_text(
        f"email,given_name,password_hash\n{name}@example.com,Ada,\n{name}-2@example.com,Bob,secret-of-bob\n"
        f"{name}@example.com,Eve,\n,Nobody,\n{name}-3@example.com,{'x' * 300},\n"
    )

    ended = gnomon("users", "import", str(file), "--format", "csv", "--report", str(report))

    assert ended.exit_code == 1
    assert ended.output.strip() == "1 made, 0 unchanged, 4 refused"
    with report.open(newline="") as opened:
        assert [(row["line"], row["reason"].partition(":")[0]) for row in csv.DictReader(opened)] == [
            ("3", "password_hash"),
            ("4", "there is a user with this email and another given_name"),
            ("5", "email"),
            ("6", "users.given_name"),
        ]
    assert "secret-of-bob" not in ended.errors + report.read_text()


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_an_export_is_imported_without_a_change(gnomon: Gnomon, tmp_path: Path, file_format: str) -> None:
    file = tmp_path / "users"

    exported = gnomon("users", "export", str(file), "--format", file_format, "--with-password-hashes")
    again = gnomon("users", "import", str(file), "--format", file_format, "--allow-administrators", "--json")

    assert exported.exit_code == 0
    assert file.stat().st_mode & 0o077 == 0
    assert (again.json["created"], again.json["refused"]) == (0, [])
    assert "$argon2id$" in file.read_text()


def test_an_export_overwrites_no_file(gnomon: Gnomon, tmp_path: Path) -> None:
    file = tmp_path / "users.csv"
    file.write_text("precious")

    ended = gnomon("users", "export", str(file))

    assert (ended.exit_code, file.read_text()) == (2, "precious")


def test_an_export_that_is_refused_leaves_no_file(gnomon: Gnomon, tmp_path: Path) -> None:
    file = tmp_path / "users.csv"

    ended = gnomon("users", "export", str(file), "--client-secret", "wrong")

    assert (ended.exit_code, file.exists()) == (1, False)


def test_a_file_that_cannot_be_read_is_told(gnomon: Gnomon, tmp_path: Path) -> None:
    broken = tmp_path / "realm.json"
    broken.write_text('{"users": [')

    assert gnomon("users", "import", str(tmp_path / "none"), "--format", "csv").exit_code == 2
    assert "not JSON" in gnomon("users", "import", str(broken), "--format", "keycloak").errors
