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

    Pings detect peers that vanished, so that their calls free their places; peers may ping as often. `max_frames` and
    `frames_per_second` bound the frames that no call explains.
    """

    max_connections: int
    max_connection_calls: int
    max_message_bytes: int
    handshake_timeout_seconds: float
    idle_timeout_seconds: float
    max_connections_per_address: int = 256
    first_call_timeout_seconds: float = 15.0
    request_timeout_seconds: float = 60.0
    send_timeout_seconds: float = 60.0
    max_header_bytes: int = 64 * KIBIBYTE
    max_frames: int = 1024
    frames_per_second: float = 128.0
    keepalive_seconds: float = 30.0
    keepalive_timeout_seconds: float = 10.0
    min_ping_interval_seconds: float = 5.0
    max_ping_strikes: int = 2

    @property
    def max_held_bytes(self) -> int:
        """Octets of requests on one connection that no handler has taken."""
        return 8 * self.max_message_bytes

    @property
    def max_unread_bytes(self) -> int:
        """Octets of answers on one connection that its client has not read."""
        return 8 * self.max_message_bytes

    @property
    def congestion_bytes(self) -> int:
        """Octets of unread answers beyond which no further call of the connection starts."""
        return self.max_message_bytes
