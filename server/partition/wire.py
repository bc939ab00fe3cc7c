"""Commands and answers as bytes: between processes, in the outbox, and kept for repeats.

Each is a pair of its type's name and its fields in MessagePack. What is read was written by this program, so a text of
another release that no longer fits is a fault and not a refusal.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar, get_args

import msgspec

from server.engine.answers import Answer
from server.engine.commands import Command
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

    def unpack(self, content: bytes) -> T:
        name, fields = _pair.decode(content)
        return self._decoders[name].decode(fields)


class Plain(Generic[T]):
    """Packs and unpacks one type."""

    def __init__(self, kind: type[T]) -> None:
        self.pack: Callable[[T], bytes] = _encode
        self.unpack: Callable[[bytes], T] = msgspec.msgpack.Decoder(kind).decode


COMMANDS: Union[Command] = Union(get_args(Command))
ANSWERS: Union[Answer] = Union(get_args(Answer))
ORIGINS = Plain(Origin)
AUDIT_ENTRIES = Plain(tuple[AuditEntry, ...])
