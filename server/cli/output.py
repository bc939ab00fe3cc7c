"""Output of a command: a table for a person, for a program the document that the HTTP API answers with."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import typer
from rich.console import Console, RenderableType

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from edge.transcode.answers import Encode

# Wide enough for every column where no terminal says how wide it is.
_FILE_WIDTH = 200


class Output:
    """Standard output of a command."""

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json
        self.console = Console(highlight=False)
        if not self.console.is_terminal:
            self.console.width = _FILE_WIDTH

    def show(self, answer: "Message", rendered: RenderableType) -> None:
        """Print an answer of the server."""
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
        """Show a person that something goes on."""
        if self.is_json or not self.console.is_terminal:
            yield
            return
        with self.console.status(message):
            yield


def document(answer: "Message") -> bytes:
    """JSON text of an answer, as its route gives it."""
    return _encoders()[answer.DESCRIPTOR.full_name](answer) or b"{}"


@cache
def _encoders() -> "Mapping[str, Encode]":
    # A table needs nothing of the edge, which takes a quarter of a second to import.
    from edge.contract import routes  # noqa: PLC0415
    from edge.transcode.answers import encoder_of  # noqa: PLC0415

    return {route.policy.descriptor.output_type.full_name: encoder_of(route) for route in routes()}
