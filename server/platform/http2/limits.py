"""Limits of one listener for its peers."""

from dataclasses import dataclass

KIBIBYTE = 1024

# RFC 9113 §6.9.2: octets that a peer may send ahead of the reader, per stream and for all streams of a
# connection.
STREAM_WINDOW = 256 * KIBIBYTE
CONNECTION_WINDOW = 4096 * KIBIBYTE


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a listener.

    Pings detect peers that vanished, so that their calls free their places; peers may ping as often.
    """

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
    def max_held_bytes(self) -> int:
        """Octets of requests on one connection that no handler has taken."""
        return 8 * self.max_message_bytes
