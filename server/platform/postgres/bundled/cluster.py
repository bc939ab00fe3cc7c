"""Creates a database cluster atomically: under its name it is complete or absent."""

import os
import secrets
import shutil
from pathlib import Path

from server.platform.postgres.bundled.account import Account
from server.platform.postgres.bundled.errors import PostgresError
from server.platform.postgres.bundled.programs import Programs

SUPERUSER = "postgres"
ROLE = "gnomon"
DATABASE = "gnomon"
PASSWORD_BYTES = 32

# The first major version with checksums by default; later versions need an option to omit them.
CHECKSUMS_BY_DEFAULT = 18

# A builtin collation keeps indexes valid when the machine's libraries change their collations.
_LOCALE = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")


def make_password(file: Path, account: Account) -> None:
    """Write a new password for the superuser and for the program's role."""
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(secrets.token_urlsafe(PASSWORD_BYTES))
    account.own(draft)
    draft.rename(file)


def password_in(file: Path) -> str:
    return file.read_text().strip()


def create(data: Path, *, programs: Programs, password: Path, seconds: float) -> None:
    """Create a cluster with the program's database."""
    draft = initialized(data, has_checksums=True, programs=programs, password=password, seconds=seconds)
    programs.run(
        "postgres",
        *("--single", "-D", draft, "-c", "exit_on_error=on", SUPERUSER),
        seconds=seconds,
        stdin=(
            f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{password_in(password)}'\n"
            f"CREATE DATABASE {DATABASE} OWNER {ROLE}\n"
        ),
    )
    name(draft, data)


def initialized(
    data: Path, *, has_checksums: bool, programs: Programs, password: Path, seconds: float
) -> Path:
    """Create an empty cluster as a draft, which `name` renames to `data`; removes an earlier draft."""
    draft = data.with_name(f"{data.name}.new")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(mode=0o700)
    programs.account.own(draft)
    programs.run(
        "initdb",
        *("-D", draft, f"--username={SUPERUSER}", "--auth=scram-sha-256", f"--pwfile={password}"),
        *_LOCALE,
        *_checksums(programs.installation.major, has_checksums=has_checksums),
        "--no-instructions",
        seconds=seconds,
    )
    return draft


def name(draft: Path, data: Path) -> None:
    try:
        draft.rename(data)
    except OSError as error:
        raise PostgresError(f"expected nothing in {data}, where new data goes: {error}") from error
    directory = os.open(data.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def _checksums(major: int, *, has_checksums: bool) -> list[str]:
    if has_checksums:
        return ["--data-checksums"]
    return ["--no-data-checksums"] if major >= CHECKSUMS_BY_DEFAULT else []
