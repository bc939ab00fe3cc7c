"""An installation whose programs are scripts, for what a real server does only in an emergency."""

from pathlib import Path

READY = r"printf '%s\n\n\n\n\n\n\nready\n' $$ > $2/postmaster.pid"
WAIT = "while :; do sleep 0.1; done"


def installation(home: Path, *, version: str = "18.6", postgres: str = f"{READY}; {WAIT}") -> Path:
    """`postgres` is what the server does; its data directory is its second argument. No upgrade succeeds."""
    (home / "bin").mkdir(parents=True)
    _script(home / "bin" / "initdb", "exit 0")
    _script(home / "bin" / "pg_ctl", "exit 0")
    _script(home / "bin" / "pg_controldata", "echo 'Data page checksum version:  1'")
    _script(home / "bin" / "pg_upgrade", "echo 'this cannot be taken over'; exit 1")
    _script(
        home / "bin" / "postgres",
        f'if [ "$1" = --version ]; then echo "postgres (PostgreSQL) {version}"; exit; fi',
        postgres,
    )
    return home


def _script(file: Path, *lines: str) -> None:
    file.write_text("\n".join(("#!/bin/sh", *lines, "")))
    file.chmod(0o755)
