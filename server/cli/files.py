"""Files that are named on the command line."""

from pathlib import Path

from server.cli.failures import give_up


def read_file(file: Path) -> bytes:
    """Return its content; a file that cannot be read ends the command."""
    try:
        return file.read_bytes()
    except OSError as error:
        give_up(f"cannot read {file}: {error.strerror}")
