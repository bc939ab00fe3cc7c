"""Ways to a service, behind one interface: what a generated stub asks of its channel.

`LocalChannel` reaches a dispatcher in this process, `grpc.aio` channels everything else; both answer through the
same interceptors and servicers.
"""

from server.platform.channels.local import LocalCallError, LocalChannel
from server.platform.channels.port import Channel, UnaryCall
from server.platform.channels.status import error_of

__all__ = ["Channel", "LocalCallError", "LocalChannel", "UnaryCall", "error_of"]
