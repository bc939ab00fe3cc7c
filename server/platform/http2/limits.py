"""Bounds of one listener for its peers."""

from dataclasses import dataclass

KIBIBYTE = 1024

# RFC 9113 §6.9.2: octets that a stream may send ahead of its reader. All streams of a connection share the larger one.
STREAM_WINDOW = 256 * KIBIBYTE
CONNECTION_WINDOW = 4096 * KIBIBYTE


@dataclass(frozen=True, slots=True)
class Limits:
    """Pings find peers that vanished, so that their calls do not keep their places; peers may ping likewise."""

    max_connections: int
    max_connection_calls: int
    max_message_bytes: int
    handshake_timeout_seconds: float
    idle_timeout_seconds: float
    max_header_bytes: int = 64 * KIBIBYTE
    keepalive_seconds: float = 30.0
    keepalive_timeout_seconds: float = 10.0
    min_ping_interval_seconds: float = 5.0
    max_ping_strikes: int = 2

    @property
    def max_unfinished_bytes(self) -> int:
        """Octets of the messages of one connection that have not arrived as a whole."""
        return 8 * self.max_message_bytes
