"""Metrics of a gRPC listener, and the reasons why it closes connections."""

from collections.abc import Callable, Iterator
from enum import StrEnum

import ngh2

from server.platform.connection_table import ConnectionTable
from server.platform.metrics import Gauge, Metrics


class Closing(StrEnum):
    """Reason why the listener closed or refused a connection; clients receive it in GOAWAY."""

    TOO_MANY_CONNECTIONS = "too_many_connections"
    GAVE_WAY = "gave_way"
    HANDSHAKE_TIMEOUT = "handshake_timeout"
    FIRST_CALL_TIMEOUT = "first_call_timeout"
    IDLE_TIMEOUT = "idle_timeout"
    KEEPALIVE_TIMEOUT = "keepalive_timeout"
    SEND_TIMEOUT = "send_timeout"
    TOO_MANY_FRAMES = "too_many_frames"
    # github.com/grpc/proposal/blob/master/A8-client-side-keepalive.md: clients then ping less often.
    TOO_MANY_PINGS = "too_many_pings"
    MALFORMED = "malformed"

    @property
    def code(self) -> ngh2.ErrorCode:
        return ngh2.ErrorCode.ENHANCE_YOUR_CALM if self in _EXCESSES else ngh2.ErrorCode.NO_ERROR


_EXCESSES = frozenset(
    {
        Closing.TOO_MANY_CONNECTIONS,
        Closing.SEND_TIMEOUT,
        Closing.TOO_MANY_FRAMES,
        Closing.TOO_MANY_PINGS,
    }
)


class GrpcMeter:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        closings = metrics.counter(
            "gnomon_grpc_closings", "Connections that the listener closed or refused", ("reason",)
        )
        self._closings = {closing: closings.labels(closing) for closing in Closing}

    def closed(self, closing: Closing) -> None:
        self._closings[closing].inc()

    def watch(self, table: ConnectionTable, settle: Callable[[], None]) -> None:
        """Report the connection counts of a table, which `settle` brings up to date."""

        def read() -> Iterator[Gauge]:
            settle()
            yield Gauge(table.waiting, ("waiting",))
            yield Gauge(len(table) - table.waiting, ("busy",))
            yield Gauge(table.most - len(table), ("free",))

        self._metrics.gauge("gnomon_grpc_connections", "Places for connections", read, ("state",))
