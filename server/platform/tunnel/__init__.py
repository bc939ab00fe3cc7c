"""The server's side of a tunnel: many calls over one gRPC stream; `channels.TunnelChannel` is the client's side.

A unary gRPC call costs Python a quarter of a millisecond of CPU on each side, whatever its size. Calls and
responses therefore travel in batches. There is no timer: a batch is everything that waits when the stream is
free.
"""

from server.platform.tunnel.batches import batches
from server.platform.tunnel.service import SERVICE, Tunnel

__all__ = ["SERVICE", "Tunnel", "batches"]
