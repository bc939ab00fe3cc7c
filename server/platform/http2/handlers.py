"""Finds the method for a call's path."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

from server.platform.http2.refusal import Refusal


@dataclass
class _Details:
    method: str
    invocation_metadata: tuple[tuple[str, str | bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """A method; `serve` takes a request or an iterator of requests, and returns a response or an iterator of responses.

    Connections with calls of a method that `protects` do not give way to others.
    """

    serve: Callable[[Any, Any], Any]
    deserialize: Callable[[bytes], Any]
    serialize: Callable[[Any], bytes]
    takes_stream: bool
    gives_stream: bool
    protects: bool


class Handlers:
    """The methods by path; each path is looked up once."""

    def __init__(self) -> None:
        self._generic: list[tuple[grpc.GenericRpcHandler, bool]] = []
        self._found: dict[str, Method] = {}

    def add(self, handlers: Sequence[grpc.GenericRpcHandler], *, protects: bool) -> None:
        self._generic += [(handler, protects) for handler in handlers]

    def method(self, path: str) -> Method:
        """Return the method; raises Refusal for an unknown path."""
        found = self._found.get(path)
        return found if found is not None else self._looked_up(path)

    def _looked_up(self, path: str) -> Method:
        for generic, protects in self._generic:
            handler = generic.service(_Details(path))
            if handler is not None:
                found = self._found[path] = _method(handler, protects=protects)
                return found
        raise Refusal(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")


def _method(handler: "grpc.RpcMethodHandler[Any, Any]", *, protects: bool) -> Method:
    kinds = {
        (False, False): handler.unary_unary,
        (False, True): handler.unary_stream,
        (True, False): handler.stream_unary,
        (True, True): handler.stream_stream,
    }
    takes_stream, gives_stream = bool(handler.request_streaming), bool(handler.response_streaming)
    serve = kinds[takes_stream, gives_stream]
    if serve is None or handler.request_deserializer is None or handler.response_serializer is None:
        raise TypeError("expected a handler with its function and both serializers")
    return Method(
        serve,
        handler.request_deserializer,
        handler.response_serializer,
        takes_stream,
        gives_stream,
        protects,
    )
