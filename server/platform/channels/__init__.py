"""Ways to a service, behind one interface: what a generated stub asks of its channel.

`LocalChannel` reaches a dispatcher in this process, `TunnelChannel` one in another process over a stream of batches,
`grpc.aio` channels everything else; all answer through the same interceptors and servicers.
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
