"""Variables on the command line: a JSON object, or a file that holds one."""

from pathlib import Path

import msgspec

from server.cli.failures import give_up

FROM_FILE = "@"
HELP = "JSON object, or @ and the name of a file that holds one."


def parse_variables(text: str) -> bytes:
    """JSON text of an object; anything else ends the command."""
    content = _read(Path(text.removeprefix(FROM_FILE))) if text.startswith(FROM_FILE) else text.encode()
    try:
        msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError as error:
        give_up(f"expected --variables to be a JSON object: {error}")
    return content


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        give_up(f"cannot read {file}: {error.strerror}")
