"""Metrics of an HTTP listener."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from server.platform.connection_table import ConnectionTable
from server.platform.metrics import Gauge, Metrics


class Refusal(StrEnum):
    """Reason why the listener itself closed a connection with a request, or with a possible one."""

    CONNECTIONS = "connections"
    GAVE_WAY = "gave_way"
    MALFORMED = "malformed"
    HEAD_SIZE = "head_size"
    HEAD_TIMEOUT = "head_timeout"
    BODY_TIMEOUT = "body_timeout"
    SEND_TIMEOUT = "send_timeout"


class HttpMeter:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._seconds = metrics.histogram(
            "gnomon_http_request_seconds", "Time from a request head to the end of its answer", ("status",)
        )
        refusals = metrics.counter(
            "gnomon_http_refusals", "Connections that the listener closed or refused", ("reason",)
        )
        self._refusals = {refusal: refusals.labels(refusal) for refusal in Refusal}
        self._of_status = cache(lambda status: self._seconds.labels(str(status)))

    def answered(self, status: int, seconds: float) -> None:
        self._of_status(status).observe(seconds)

    def refused(self, refusal: Refusal) -> None:
        self._refusals[refusal].inc()

    def watch(self, table: ConnectionTable) -> None:
        """Report the connection counts of a table."""

        def read() -> Iterator[Gauge]:
            yield Gauge(table.waiting, ("waiting",))
            yield Gauge(len(table) - table.waiting, ("busy",))
            yield Gauge(table.most - len(table), ("free",))

        self._metrics.gauge("gnomon_http_connections", "Places for connections", read, ("state",))
