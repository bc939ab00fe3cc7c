"""`gnomon users export-data`, against a server of each mode."""

import json
from pathlib import Path

from tests.server.cli.conftest import Gnomon


def _imported(gnomon: Gnomon, tmp_path: Path) -> str:
    address = f"data-of-{tmp_path.name}@example.com".lower().replace("_", "-")
    (tmp_path / "users.csv").write_text(f"email,given_name\n{address},Ada\n")
    assert gnomon("users", "import", str(tmp_path / "users.csv"), "--format", "csv").exit_code == 0
    return address


def test_the_data_of_a_user_is_one_document(gnomon: Gnomon, tmp_path: Path) -> None:
    address, file = _imported(gnomon, tmp_path), tmp_path / "data.json"

    printed = gnomon("users", "export-data", address).json
    written = gnomon("users", "export-data", printed["user_id"], "--processes", "--output", str(file))

    assert [each["email"] for each in printed["identity"]["user"]] == [address]
    assert printed["processes"] is None
    assert written.exit_code == 0, written.errors
    document = json.loads(file.read_text())
    assert document["identity"]["user"] == printed["identity"]["user"]
    # The embedded mode keeps no history.
    assert document["processes"] in (None, {})
    assert file.stat().st_mode & 0o077 == 0


def test_an_existing_file_stays(gnomon: Gnomon, tmp_path: Path) -> None:
    address, file = _imported(gnomon, tmp_path), tmp_path / "data.json"
    file.write_text("mine")

    ended = gnomon("users", "export-data", address, "--output", str(file))

    assert (ended.exit_code, file.read_text()) == (2, "mine")


def test_an_unknown_user_leaves_no_file(gnomon: Gnomon, tmp_path: Path) -> None:
    file = tmp_path / "data.json"

    ended = gnomon("users", "export-data", "nobody", "--output", str(file))

    assert (ended.exit_code, file.exists()) == (1, False)


def test_an_erased_user_is_gone(gnomon: Gnomon, tmp_path: Path) -> None:
    address = _imported(gnomon, tmp_path)

    begun = gnomon("users", "erase", address)
    pseudonym = begun.output.partition(":")[0]

    assert begun.output.startswith("erased-")
    assert gnomon("users", "erase", address).exit_code == 1
    assert gnomon("users", "erase", pseudonym, "--status").output.startswith(pseudonym)
