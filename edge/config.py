"""[edge]: where HTTP listens, and the bounds of connections and requests."""

from dataclasses import dataclass, field
from enum import StrEnum

from server.platform.sockets import LOCALHOST

KIBIBYTE = 1024
MEBIBYTE = 1024 * KIBIBYTE
MAX_PORT = 65535
MIN_SECRET = 16


class Release(StrEnum):
    """Release of Camunda's API."""

    CAMUNDA_8_9 = "8.9"
    CAMUNDA_8_10 = "8.10"


@dataclass(frozen=True, slots=True)
class ApiConfig:
    """[api]: which clients the HTTP API answers.

    `release` is `8.9` or `8.10`, in quotes. With `8.10` answers have the members that clients of Camunda 8.10 require;
    clients of 8.9 ignore them. With `process_tests`, embedded mode serves what Camunda's process-test library calls
    between tests, on loopback only and without a credential: the clock, and the deletion of all processes and their data.
    """

    release: Release = Release.CAMUNDA_8_9
    process_tests: bool = False


@dataclass(frozen=True, slots=True)
class EdgeConfig:
    """`host` `localhost` stands for both loopback addresses; `port` 0 takes a free one.

    `long_call_timeout_seconds` is for calls that wait for an event. `max_connections` bounds the open connections of
    this process, and is lowered to the limit of open files. `max_connections_per_address` bounds those of one client
    address (IPv6: one /64 network), except `access.trusted_proxies`. At a bound, the connection that has waited longest
    for a request is closed. `head_timeout_seconds` is for a complete request head, `body_timeout_seconds` for a
    complete body, `idle_timeout_seconds` for the next request of a kept connection. A client that reads nothing of its
    response for `send_timeout_seconds` is disconnected. Running requests have `shutdown_seconds` to end at stop.
    `reuse_port` lets several processes share the port. `services` are the gRPC addresses, host:port, of the processes
    that serve; without any this process serves itself. `secret` is shared by such an edge and those processes: without
    it they accept no facts about browsers from the edge.
    """

    host: str = LOCALHOST
    port: int = 8080
    max_connections: int = 8192
    max_connections_per_address: int = 1024
    max_head_bytes: int = 64 * KIBIBYTE
    max_body_bytes: int = 4 * MEBIBYTE
    head_timeout_seconds: float = 15.0
    body_timeout_seconds: float = 60.0
    idle_timeout_seconds: float = 75.0
    send_timeout_seconds: float = 60.0
    call_timeout_seconds: float = 30.0
    long_call_timeout_seconds: float = 3700.0
    shutdown_seconds: float = 5.0
    reuse_port: bool = False
    services: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= MAX_PORT:
            raise ValueError(f"edge.port must be 0 to {MAX_PORT}, not {self.port}")
        if self.services and not self.secret:
            raise ValueError("edge.services needs edge.secret, the same on this edge and on the services")
        if self.secret and not (self.secret.isascii() and self.secret.isprintable()):
            raise ValueError("edge.secret must be printable ASCII")
        if 0 < len(self.secret) < MIN_SECRET:
            raise ValueError(f"edge.secret must have {MIN_SECRET} characters at least")
        for name in (
            "max_connections",
            "max_connections_per_address",
            "max_head_bytes",
            "max_body_bytes",
            "head_timeout_seconds",
            "body_timeout_seconds",
            "idle_timeout_seconds",
            "send_timeout_seconds",
            "call_timeout_seconds",
            "long_call_timeout_seconds",
            "shutdown_seconds",
        ):
            if getattr(self, name) <= 0:
                raise ValueError(f"edge.{name} must be greater than 0, not {getattr(self, name)}")
