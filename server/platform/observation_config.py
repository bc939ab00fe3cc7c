"""Configuration of metrics and traces."""

from dataclasses import dataclass

MAX_PORT = 65535


@dataclass(frozen=True, slots=True)
class MetricsConfig:
    """[metrics]: the listener from which Prometheus reads `/metrics`, without a credential.

    In bundled mode each process has its own port, counted from `port`. `max_tenants` is the number of tenants
    that have their own label in one metric. Every `sample_seconds` each process counts the waiting work in
    the database.
    """

    enabled: bool = False
    host: str = "127.0.0.1"
    port: int = 9464
    max_tenants: int = 20
    sample_seconds: float = 15.0

    def __post_init__(self) -> None:
        if not 0 <= self.port <= MAX_PORT:
            raise ValueError(f"metrics.port: expected 0 to {MAX_PORT}, found {self.port}")
        for name in ("max_tenants", "sample_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"metrics.{name}: expected more than 0, found {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class TracingConfig:
    """[tracing]: spans are sent to the OpenTelemetry collector at `endpoint`, by OTLP over gRPC without TLS.

    The fraction `sample_ratio` of requests without a trace starts a trace. A request of a sampled trace
    continues that trace. Callers control the traces that they send, so each process records at most
    `max_traces_per_second` in total.
    """

    enabled: bool = False
    endpoint: str = "127.0.0.1:4317"
    sample_ratio: float = 0.01
    max_traces_per_second: int = 50

    def __post_init__(self) -> None:
        if not 0 <= self.sample_ratio <= 1:
            raise ValueError(f"tracing.sample_ratio: expected 0 to 1, found {self.sample_ratio:g}")
        if self.max_traces_per_second <= 0:
            raise ValueError(
                f"tracing.max_traces_per_second: expected more than 0, found {self.max_traces_per_second}"
            )
