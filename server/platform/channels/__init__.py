"""Channels to a service, behind the interface that generated stubs expect.

`LocalChannel` calls a dispatcher in this process. `TunnelChannel` calls one in another process over a stream
of batches. `grpc.aio` channels serve everything else. All calls pass the same interceptors and servicers.
"""

from server.platform.channels.failure import CallError
from server.platform.channels.local import LocalChannel
from server.platform.channels.port import Channel, UnaryCall
from server.platform.channels.status import error_of
from server.platform.channels.tunnel import TunnelChannel, TunnelConfig

__all__ = [
    "CallError",
    "Channel",
    "LocalChannel",
    "TunnelChannel",
    "TunnelConfig",
    "UnaryCall",
    "error_of",
]
