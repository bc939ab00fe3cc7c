"""Variables on the command line: a JSON object, or a file that contains one."""

from pathlib import Path

import msgspec

from server.cli.failures import give_up
from server.cli.files import read_file

FROM_FILE = "@"
HELP = "JSON object, or @ and the name of a file that holds one."


def parse_variables(text: str) -> bytes:
    """Return the JSON text of an object; exit on anything else."""
    content = read_file(Path(text.removeprefix(FROM_FILE))) if text.startswith(FROM_FILE) else text.encode()
    try:
        msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError as error:
        give_up(f"expected --variables to be a JSON object: {error}")
    return content
