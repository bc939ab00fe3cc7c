"""Duration and failures of calls, per RPC."""

from functools import cache

from server.platform.errors import ServiceError
from server.platform.metrics import Metrics


class CallMetrics:
    """Metrics of calls, labelled with the RPC.

    Only RPCs of the contract are labels, so their number is bounded. Each is reported from its first call on.
    """

    def __init__(self, metrics: Metrics) -> None:
        seconds = metrics.histogram("gnomon_call_seconds", "Duration of a call", ("rpc",))
        self._failures = metrics.counter(
            "gnomon_call_failures", "Calls that were refused or failed", ("rpc", "reason")
        )
        self._of_path = cache(lambda path: seconds.labels(path.removeprefix("/")))

    def observe(self, path: str, seconds: float, failure: ServiceError | None) -> None:
        """Record one call of the RPC with this path."""
        self._of_path(path).observe(seconds)
        if failure is not None:
            self._failures.labels(path.removeprefix("/"), failure.reason).inc()
