"""The cost of calls that come together does not grow by the call: writes to the socket, and frames of the answers."""

import asyncio
from collections.abc import Sequence
from typing import Any

import grpc
import ngh2

from server.platform.http2 import Listener
from server.platform.http2.connection import Connection
from server.platform.http2.wire import framed
from tests.server.platform.http2.harness import SERVICE, SOON, echo, limits, unary

CALLS = 64
# RFC 9113 §4.1: the size of a frame's head.
HEAD = 9
HEADERS, DATA, SETTINGS, WINDOW_UPDATE = 1, 0, 4, 8


class Wire(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 4711)})
        self.writes: list[bytes] = []
        self.resumed = asyncio.Event()

    def write(self, data: Any) -> None:
        self.writes.append(bytes(data))

    def close(self) -> None:
        pass

    def pause_reading(self) -> None:
        self.resumed.clear()

    def resume_reading(self) -> None:
        self.resumed.set()

    def get_write_buffer_size(self) -> int:
        return 0


def frames(octets: bytes) -> Sequence[int]:
    """Return the types of the frames."""
    types, place = [], 0
    while place < len(octets):
        types.append(octets[place + 3])
        place += HEAD + int.from_bytes(octets[place : place + 3], "big")
    return types


async def test_answers_that_are_ready_together_leave_in_one_write() -> None:
    listener, wire, client = Listener(limits(), reuse_port=False), Wire(), ngh2.Connection(ngh2.Role.CLIENT)
    listener.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, {"Echo": unary(echo)})])
    connection = Connection(listener)
    connection.connection_made(wire)
    client.initiate_connection()
    client.receive_data(b"".join(wire.writes))
    wire.writes.clear()
    for _ in range(CALLS):
        stream_id = client.send_request(
            [
                (b":method", b"POST"),
                (b":scheme", b"http"),
                (b":path", f"/{SERVICE}/Echo".encode()),
                (b":authority", b"test"),
                (b"content-type", b"application/grpc"),
            ]
        )
        client.send_data(stream_id, framed(b"x" * 100), end_stream=True)

    connection.data_received(client.data_to_send())
    await asyncio.sleep(SOON)
    connection.connection_lost(None)

    answers = [kind for kind in frames(b"".join(wire.writes)) if kind not in (SETTINGS, WINDOW_UPDATE)]
    assert len(wire.writes) <= 2
    assert (answers.count(HEADERS), answers.count(DATA)) == (2 * CALLS, CALLS)
    assert len(answers) == 3 * CALLS
