"""Many calls over one gRPC stream, on the server's side; `channels.TunnelChannel` is the other end.

A unary call costs gRPC in Python a quarter of a millisecond of CPU on either side whatever it carries, so calls and
answers travel in batches. There is no timer: a batch is what waits when the stream is free.
"""

from server.platform.tunnel.batches import batches
from server.platform.tunnel.service import SERVICE, Tunnel

__all__ = ["SERVICE", "Tunnel", "batches"]
