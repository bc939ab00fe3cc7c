"""The tunnel as a gRPC service; it is not one of the dispatcher's services.

The metadata of a stream applies to all of its calls; an edge authenticates there once.
"""

from collections.abc import AsyncIterator

import grpc

from gnomon.tunnel.v1 import tunnel_service_pb2 as pb
from server.platform.caller import EdgeSecret
from server.platform.dispatch import Dispatcher
from server.platform.errors import ServiceError
from server.platform.grpc_context import metadata_of, refuse
from server.platform.peer import Peer, address_of
from server.platform.tunnel.calls import Calls
from server.platform.tunnel.exchange import Exchange, Stream

_DESCRIPTOR = pb.DESCRIPTOR.services_by_name["TunnelService"]
SERVICE: str = _DESCRIPTOR.full_name


class Tunnel:
    """Serves the dispatcher's operations over any number of streams, with at most `max_calls` at a time on each."""

    def __init__(
        self, dispatcher: Dispatcher, *, max_calls: int, max_message_bytes: int, edge_secret: EdgeSecret
    ) -> None:
        self._edge_secret = edge_secret
        self._calls = Calls(dispatcher, max_message_bytes)
        self._max_calls = max_calls
        self._max_bytes = max_message_bytes
        self._exchanges: set[Exchange] = set()
        self._is_draining = False

    def handler(self) -> grpc.GenericRpcHandler:
        exchange = grpc.stream_stream_rpc_method_handler(
            self._exchange,
            request_deserializer=pb.ExchangeRequest.FromString,
            response_serializer=pb.ExchangeResponse.SerializeToString,
        )
        return grpc.method_handlers_generic_handler(SERVICE, {"Exchange": exchange})

    def drain(self) -> None:
        """End every stream after its running calls are answered; new calls are refused as unavailable."""
        self._is_draining = True
        for exchange in self._exchanges:
            exchange.end()

    async def _exchange(self, _: AsyncIterator[pb.ExchangeRequest], stream: Stream) -> None:
        exchange = Exchange(
            self._calls,
            await self._peer(stream),
            max_calls=self._max_calls,
            max_message_bytes=self._max_bytes,
        )
        self._exchanges.add(exchange)
        if self._is_draining:
            exchange.end()
        try:
            # Tells the client, before the first answer, that the stream is accepted.
            await stream.send_initial_metadata(())
            await exchange.run(stream)
        except* grpc.aio.InternalError:
            # The client disconnected during a write: its calls are cancelled.
            pass
        finally:
            self._exchanges.discard(exchange)

    async def _peer(self, stream: Stream) -> Peer:
        try:
            return self._edge_secret.peer(address_of(stream.peer()), metadata_of(stream))
        except ServiceError as error:
            await refuse(stream, error)
            raise
