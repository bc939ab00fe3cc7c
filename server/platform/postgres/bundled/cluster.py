"""Make a database cluster: whole under its name, or not there at all."""

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

# Until then checksums had to be asked for, since then the lack of them.
CHECKSUMS_BY_DEFAULT = 18

# The collation comes with PostgreSQL itself: indexes do not go stale when the machine's libraries change theirs.
_LOCALE = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")


def make_password(file: Path, account: Account) -> None:
    """For the superuser and for our role."""
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(secrets.token_urlsafe(PASSWORD_BYTES))
    account.own(draft)
    draft.rename(file)


def password_in(file: Path) -> str:
    return file.read_text().strip()


def create(data: Path, *, programs: Programs, password: Path, seconds: float) -> None:
    """A cluster with our database in it."""
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
    """An empty cluster, to which `name` gives the name `data`; removes the draft of an interrupted start."""
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
