"""Commands and answers as bytes: between processes, in the outbox, and stored for repeats.

Each is a pair of its type's name and its fields in MessagePack. Fields that the reader does not know are
dropped, so a field that changes the effect of a command needs a new wire format (`server/engine/formats.py`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar, get_args

import msgspec

from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.formats import WIRE_FORMAT, UnreadableFormat
from server.partition.origin import Origin
from server.store.entities import AuditEntry

T = TypeVar("T")

_pair = msgspec.msgpack.Decoder(tuple[str, msgspec.Raw])
_encode = msgspec.msgpack.Encoder().encode


class Union(Generic[T]):
    """Packs and unpacks the members of a closed union."""

    def __init__(self, members: Iterable[type[T]]) -> None:
        self._decoders: Mapping[str, msgspec.msgpack.Decoder[T]] = {
            member.__name__: msgspec.msgpack.Decoder(member) for member in members
        }

    def pack(self, value: T) -> bytes:
        return _encode((type(value).__name__, value))

    def unpack(self, content: bytes, number: int = WIRE_FORMAT) -> T:
        """Unpack a value of the given wire format. Raises UnreadableFormat."""
        _expect_readable(number)
        try:
            name, fields = _pair.decode(content)
            decoder = self._decoders.get(name)
            if decoder is None:
                raise UnreadableFormat(f"no type of this version is called {name!r}")
            return decoder.decode(fields)
        except msgspec.MsgspecError as error:
            raise UnreadableFormat(str(error)) from error


class Plain(Generic[T]):
    """Packs and unpacks one type."""

    def __init__(self, kind: type[T]) -> None:
        self.pack: Callable[[T], bytes] = _encode
        self._decode = msgspec.msgpack.Decoder(kind).decode

    def unpack(self, content: bytes, number: int = WIRE_FORMAT) -> T:
        """Unpack a value of the given wire format. Raises UnreadableFormat."""
        _expect_readable(number)
        try:
            return self._decode(content)
        except msgspec.MsgspecError as error:
            raise UnreadableFormat(str(error)) from error


def _expect_readable(number: int) -> None:
    """Raises UnreadableFormat for a later format; senders without format numbers count as 0."""
    if number > WIRE_FORMAT:
        raise UnreadableFormat(f"expected wire format {WIRE_FORMAT} at most, found {number}")


COMMANDS: Union[Command] = Union(get_args(Command))
ANSWERS: Union[Answer] = Union(get_args(Answer))
ORIGINS = Plain(Origin)
AUDIT_ENTRIES = Plain(tuple[AuditEntry, ...])
