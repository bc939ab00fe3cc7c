"""Files given on the command line."""

from pathlib import Path

from server.cli.failures import give_up


def read_file(file: Path) -> bytes:
    """Return a file's content; exit if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        give_up(f"cannot read {file}: {error.strerror}")
