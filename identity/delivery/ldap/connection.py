"""A connection to a directory server, for one caller at a time.

Each step has a time limit, and each answer is bounded in bytes and entries, whatever limits the server keeps. After an
error the connection is unusable.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from aiohttp.abc import AbstractResolver

from identity.delivery.http.destinations import RefusedDestination
from identity.delivery.ldap import messages
from identity.delivery.ldap.errors import LdapRefused, LdapTooLarge, LdapUnreachable
from identity.delivery.ldap.messages import Entry, Response, Result
from identity.delivery.ldap.url import LdapServer

MOST_MESSAGE_BYTES = 2 * 1024 * 1024
MOST_ANSWER_BYTES = 4 * 1024 * 1024
_SEQUENCE = 0x30
_LONG_FORM = 0x80
_MOST_REFERENCES = 100
_MOST_LENGTH_BYTES = 4

_Read: TypeAlias = Callable[[int], Awaitable[bytes]]

SUCCESS = 0
_SIZE_LIMIT_EXCEEDED = 4
INVALID_CREDENTIALS = 49
# RFC 4511 §4.1.9: busy, unavailable.
_OUT_OF_SERVICE = frozenset({51, 52})


@dataclass(frozen=True, slots=True)
class Found:
    """Entries of a search; `is_cut` when there are more."""

    entries: Sequence[Entry]
    is_cut: bool = False


class LdapConnection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, step_secs: float) -> None:
        self._reader = reader
        self._writer = writer
        self._step_secs = step_secs
        self._last_id = 0

    @classmethod
    async def open(
        cls, server: LdapServer, resolver: AbstractResolver, context: ssl.SSLContext, step_secs: float
    ) -> Self:
        """Connect, with TLS where the server has it. Raises LdapUnreachable and LdapRefused."""
        try:
            async with asyncio.timeout(step_secs):
                reader, writer = await _streams(server, resolver, context)
        except RefusedDestination as error:
            raise LdapUnreachable(
                "the address of the server is private, and not in a network of ldap.allowed_networks"
            ) from error
        except ssl.SSLError as error:
            reason = getattr(error, "verify_message", "") or error.reason or "handshake failed"
            raise LdapUnreachable(f"no TLS with the server: {reason}") from error
        except (OSError, EOFError) as error:
            raise LdapUnreachable(f"no connection to the server: {_reason(error)}") from error
        return cls(reader, writer, step_secs)

    async def bind(self, dn: str, password: str) -> int:
        """Return the result code. Raises LdapUnreachable, and ValueError for an empty password with a DN."""
        message_id = self._next_id()
        _, result = await self._ask(message_id, messages.bind_request(message_id, dn, password), most=0)
        return result.code

    async def search(self, base: str, filter_text: str, attributes: Sequence[str], *, most: int) -> Found:
        """Return at most `most` entries. Raises LdapUnreachable, LdapRefused, LdapTooLarge."""
        message_id = self._next_id()
        request = messages.search_request(
            message_id,
            base=base,
            filter_text=filter_text,
            attributes=attributes,
            most=most,
            seconds=max(1, int(self._step_secs)),
        )
        entries, result = await self._ask(message_id, request, most=most)
        if result.code == _SIZE_LIMIT_EXCEEDED:
            return Found(entries, is_cut=True)
        if result.code != SUCCESS:
            raise LdapRefused(f"the search was refused with result code {result.code}", result.code)
        return Found(entries)

    def close(self) -> None:
        """End the connection without waiting for the server: RFC 4511 §5.3."""
        self._writer.transport.abort()

    async def wait_closed(self) -> None:
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def _ask(self, message_id: int, request: bytes, *, most: int) -> tuple[Sequence[Entry], Result]:
        """Return the entries of the answer and its result."""
        try:
            async with asyncio.timeout(self._step_secs):
                self._writer.write(request)
                await self._writer.drain()
                return await self._answer(message_id, most)
        except (OSError, EOFError) as error:
            raise LdapUnreachable(f"the server did not answer: {_reason(error)}") from error

    async def _answer(self, message_id: int, most: int) -> tuple[Sequence[Entry], Result]:
        entries: list[Entry] = []
        total = references = 0
        while True:
            message = await _read_message(self._reader.readexactly)
            total += len(message)
            if total > MOST_ANSWER_BYTES:
                raise LdapTooLarge(f"the server's answer has more than {MOST_ANSWER_BYTES} bytes")
            answered_id, answer = messages.response(message)
            if answered_id != message_id:
                # With the id 0 the server ends the connection: RFC 4511 §4.4.1.
                raise LdapUnreachable("the server answered another request")
            if isinstance(answer, Result):
                _expect_in_service(answer)
                return entries, answer
            if isinstance(answer, Entry):
                entries.append(answer)
            else:
                references += 1
            if len(entries) + references > most + _MOST_REFERENCES or len(entries) > most:
                raise LdapTooLarge(f"the server returned more entries than {most}")


async def _streams(
    server: LdapServer, resolver: AbstractResolver, context: ssl.SSLContext
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    found = await resolver.resolve(server.host, server.port, socket.AF_UNSPEC)
    failure: OSError | None = None
    for address in found:
        connected = socket.socket(address["family"], socket.SOCK_STREAM)
        try:
            connected.setblocking(False)  # of the standard library
            await asyncio.get_running_loop().sock_connect(connected, (address["host"], address["port"]))
            if server.starts_tls:
                await _start_tls(connected)
            tls = context if server.is_encrypted else None
            name = server.host if server.is_encrypted else None
            return await asyncio.open_connection(sock=connected, ssl=tls, server_hostname=name)
        except ssl.SSLError:
            connected.close()
            raise
        except OSError as error:
            connected.close()
            failure = error
        except BaseException:
            connected.close()
            raise
    raise failure or OSError("the name has no address")


async def _start_tls(connected: socket.socket) -> None:
    """Ask for TLS and read the answer, and nothing behind it: what follows must come through TLS (RFC 4511 §4.14)."""
    loop = asyncio.get_running_loop()

    async def read(count: int) -> bytes:
        received = b""
        while len(received) < count:
            more = await loop.sock_recv(connected, count - len(received))
            if not more:
                raise EOFError
            received += more
        return received

    await loop.sock_sendall(connected, messages.start_tls_request(1))
    _, answer = messages.response(await _read_message(read))
    if _result(answer).code != SUCCESS:
        raise LdapUnreachable("the server refuses StartTLS")


async def _read_message(read: _Read) -> bytes:
    head = await read(2)
    if head[0] != _SEQUENCE:
        raise LdapUnreachable("the server sent data that is not an LDAP message")
    length = head[1]
    if length & _LONG_FORM:
        count = length ^ _LONG_FORM
        if not 1 <= count <= _MOST_LENGTH_BYTES:
            raise LdapUnreachable("the server sent a malformed message")
        octets = await read(count)
        head, length = head + octets, int.from_bytes(octets)
    if length > MOST_MESSAGE_BYTES:
        raise LdapTooLarge(f"the server sent a message of more than {MOST_MESSAGE_BYTES} bytes")
    return head + await read(length)


def _reason(error: OSError | EOFError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, EOFError):
        return "it ended the connection"
    return error.strerror or type(error).__name__


def _result(answer: Response) -> Result:
    if not isinstance(answer, Result):
        raise LdapUnreachable("the server sent entries that it was not asked for")
    return answer


def _expect_in_service(result: Result) -> None:
    if result.code in _OUT_OF_SERVICE:
        raise LdapUnreachable(f"the server is out of service: result code {result.code}")
