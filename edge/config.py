"""[edge]: where HTTP listens and what one request may take."""

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024
MAX_PORT = 65535


@dataclass(frozen=True, slots=True)
class EdgeConfig:
    """`port` 0 takes a free one; `long_call_timeout_seconds` is for calls that wait for something to happen.

    `public_url` is the address that clients know; empty means what they connect to. `shutdown_seconds` is what
    requests get to end at stop. `reuse_port` lets several processes share the port. `services` are the gRPC addresses,
    host:port, of the processes that serve; without any this process serves itself.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str = ""
    max_body_bytes: int = 4 * MEBIBYTE
    call_timeout_seconds: float = 30.0
    long_call_timeout_seconds: float = 3700.0
    shutdown_seconds: float = 5.0
    reuse_port: bool = False
    services: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.port <= MAX_PORT:
            raise ValueError(f"edge.port must be 0 to {MAX_PORT}, not {self.port}")
        for name in (
            "max_body_bytes",
            "call_timeout_seconds",
            "long_call_timeout_seconds",
            "shutdown_seconds",
        ):
            if getattr(self, name) <= 0:
                raise ValueError(f"edge.{name} must be greater than 0, not {getattr(self, name)}")
