"""gRPC's formats within HTTP/2: length-prefixed messages, timeouts, metadata and status.

See github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
"""

import base64
import zlib
from collections.abc import Iterable, Sequence
from urllib.parse import quote

import grpc

from server.platform.http2.refusal import Refusal

Header = tuple[bytes, bytes]
Metadata = grpc.aio.Metadata | Sequence[tuple[str, str | bytes]]

_PREFIX = 5
_BINARY = "-bin"
# zlib's format numbers; adding 16 selects the gzip header.
_WINDOW_BITS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_MAX_DIGITS = 8

ACCEPTED_ENCODINGS = (b"grpc-accept-encoding", b"identity,deflate,gzip")
HEADERS: tuple[Header, ...] = (
    (b":status", b"200"),
    (b"content-type", b"application/grpc"),
    ACCEPTED_ENCODINGS,
)
OK: tuple[Header, ...] = ((b"grpc-status", b"0"),)


def framed(message: bytes) -> bytes:
    """Return the message as sent in DATA frames, uncompressed."""
    return b"\0" + len(message).to_bytes(4, "big") + message


class MessageReader:
    """Extracts messages from the DATA of one call.

    A message is extracted, and decompressed, only when it is asked for: small messages take more memory than their
    octets, and compressed ones may take a thousand times as much.
    """

    __slots__ = ("_buffer", "_encoding", "_max_bytes")

    def __init__(self, max_bytes: int, encoding: str) -> None:
        self._max_bytes = max_bytes
        self._encoding = encoding
        self._buffer = bytearray()

    @property
    def held(self) -> int:
        """Octets that arrived and were not extracted."""
        return len(self._buffer)

    def feed(self, chunk: bytes) -> None:
        self._buffer += chunk

    def missing(self) -> int:
        """Return how many octets the next message lacks, negative for octets behind it.

        Raises Refusal for a message that is too long.
        """
        held = len(self._buffer)
        if held < _PREFIX:
            return _PREFIX - held
        return _PREFIX + self._length() - held

    def next(self) -> bytes | None:
        """Extract the next message, None if it has not arrived as a whole; raises Refusal."""
        if self.missing() > 0:
            return None
        flag, end = self._buffer[0], _PREFIX + self._length()
        data = bytes(self._buffer[_PREFIX:end])
        del self._buffer[:end]
        return self._message(flag, data)

    def _length(self) -> int:
        length = int.from_bytes(self._buffer[1:_PREFIX], "big")
        if length > self._max_bytes:
            raise _too_large(length, self._max_bytes)
        return length

    def _message(self, flag: int, data: bytes) -> bytes:
        if flag == 0:
            return data
        if flag != 1 or self._encoding not in _WINDOW_BITS:
            raise Refusal(
                grpc.StatusCode.INTERNAL,
                f"a message with flag {flag} in a call with encoding '{self._encoding}'",
            )
        inflating = zlib.decompressobj(_WINDOW_BITS[self._encoding])
        try:
            message = inflating.decompress(data, self._max_bytes + 1)
        except zlib.error as error:
            raise Refusal(grpc.StatusCode.INTERNAL, f"a message is not {self._encoding}") from error
        if len(message) > self._max_bytes:
            raise _too_large(len(message), self._max_bytes)
        if not inflating.eof:
            raise Refusal(grpc.StatusCode.INTERNAL, f"a message of {self._encoding} has no end")
        return message


def _too_large(length: int, most: int) -> Refusal:
    detail = f"SERVER: Received message larger than max ({length} vs. {most})"
    return Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, detail)


def expect_encoding(name: str) -> None:
    """Raise Refusal for an unsupported message encoding."""
    if name != "identity" and name not in _WINDOW_BITS:
        raise Refusal(grpc.StatusCode.UNIMPLEMENTED, f"messages with encoding '{name}' are not served")


def seconds_of(timeout: str) -> float:
    """Return the seconds of a `grpc-timeout`; raises Refusal."""
    digits, unit = timeout[:-1], timeout[-1:]
    if unit not in _UNITS or not (digits.isascii() and digits.isdigit()) or len(digits) > _MAX_DIGITS:
        raise Refusal(grpc.StatusCode.INTERNAL, f"grpc-timeout '{timeout}' is not a duration")
    return int(digits) * _UNITS[unit]


def metadata_of(headers: Iterable[Header]) -> dict[str, str]:
    """Return a request's text entries, including pseudo-headers; the last value of a name counts. Raises Refusal."""
    try:
        return {
            name.decode("ascii"): value.decode("ascii")
            for name, value in headers
            if not name.endswith(b"-bin")
        }
    except UnicodeDecodeError as error:
        raise Refusal(grpc.StatusCode.INTERNAL, "metadata has other octets than ASCII") from error


def headers_of(metadata: Metadata) -> list[Header]:
    """Return metadata as headers; names that end in `-bin` have binary values."""
    return [(name.lower().encode("ascii"), _value(name, value)) for name, value in metadata]


def _value(name: str, value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return base64.b64encode(data).rstrip(b"=") if name.lower().endswith(_BINARY) else data


def status_headers(code: grpc.StatusCode, details: str, metadata: Metadata = ()) -> list[Header]:
    """Return the trailers that end a call."""
    headers = [(b"grpc-status", b"%d" % code.value[0])]
    if details:
        # All characters except printable ASCII, and the percent sign, are percent-encoded.
        headers.append((b"grpc-message", quote(details, safe=_UNENCODED).encode("ascii")))
    return headers + headers_of(metadata)


_UNENCODED = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")
