"""Output of a command: tables for people, the HTTP API's documents for programs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import typer
from rich.console import Console, RenderableType

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from edge.transcode.answers import Encode

# Wide enough for every column if the output is not a terminal.
_FILE_WIDTH = 200


class Output:
    """The standard output of a command."""

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json
        self.console = Console(highlight=False)
        if not self.console.is_terminal:
            self.console.width = _FILE_WIDTH

    def show(self, answer: "Message", rendered: RenderableType) -> None:
        """Print a response of the server."""
        if self.is_json:
            self.document(document(answer))
        else:
            self.print(rendered)

    def print(self, rendered: RenderableType) -> None:
        self.console.print(rendered, markup=False)

    def document(self, text: bytes) -> None:
        typer.echo(text)

    @contextmanager
    def waiting(self, message: str) -> Iterator[None]:
        """Show a progress message in a terminal."""
        if self.is_json or not self.console.is_terminal:
            yield
            return
        with self.console.status(message):
            yield


def document(answer: "Message") -> bytes:
    """Return a response as JSON, as the HTTP API returns it."""
    return _encoders()[answer.DESCRIPTOR.full_name](answer) or b"{}"


@cache
def _encoders() -> "Mapping[str, Encode]":
    # Only JSON output needs the edge, whose import takes a quarter of a second.
    from edge.contract import routes  # noqa: PLC0415
    from edge.transcode.answers import encoder_of  # noqa: PLC0415

    return {route.policy.descriptor.output_type.full_name: encoder_of(route) for route in routes()}
