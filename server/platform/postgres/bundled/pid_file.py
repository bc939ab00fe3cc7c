"""Reader of `postmaster.pid`, in which a server describes itself."""

from pathlib import Path

from server.platform.postgres.bundled.errors import PostgresError

NAME = "postmaster.pid"

# Lines, counted from 0, by which pg_ctl goes too.
_PROCESS, _STATUS = 0, 7


def says_ready(data: Path, process_id: int) -> bool:
    lines = _lines(data)
    return len(lines) > _STATUS and (lines[_PROCESS], lines[_STATUS]) == (str(process_id), "ready")


def forget_dead(data: Path) -> None:
    """A dead server's process id may be another process's by now, for which PostgreSQL would refuse to start.

    To be called while the server lock is held, so no server of ours runs. One that somebody started by hand has the
    data as its working directory.
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
