"""The document of a process instance as bytes: what recovery reads, and what a failed command is rolled back to."""

import msgspec

from server.engine.state import ProcessInstance

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ProcessInstance).decode


def pack(instance: ProcessInstance) -> bytes:
    return _encode(instance)


def unpack(content: bytes) -> ProcessInstance:
    return _decode(content)
