"""Reads `postmaster.pid`, the server's description of itself."""

from pathlib import Path

from server.platform.postgres.bundled.errors import PostgresError

NAME = "postmaster.pid"

# Line numbers counted from 0, as pg_ctl uses them.
_PROCESS, _STATUS = 0, 7


def says_ready(data: Path, process_id: int) -> bool:
    lines = _lines(data)
    return len(lines) > _STATUS and (lines[_PROCESS], lines[_STATUS]) == (str(process_id), "ready")


def forget_dead(data: Path) -> None:
    """Remove the PID file of a dead server, because PostgreSQL refuses to start if another process has that id now.

    The caller holds the server lock, so no bundled server runs. A server that somebody started by hand has
    the data directory as its working directory; it raises PostgresError.
    """
    lines = _lines(data)
    if lines and _working_directory(lines[_PROCESS]) == data:
        raise PostgresError(
            f"process {lines[_PROCESS]}, which somebody else has started, serves {data}: end it first"
        )
    (data / NAME).unlink(missing_ok=True)


def _lines(data: Path) -> list[str]:
    try:
        return [line.strip() for line in (data / NAME).read_text().splitlines()]
    except FileNotFoundError:
        return []


def _working_directory(process_id: str) -> Path | None:
    try:
        return Path("/proc", process_id, "cwd").readlink()
    except OSError:
        return None
