"""gRPC over HTTP/2 on the event loop: the listener behind `GrpcServer`.

libnghttp2 keeps the state of a connection: frames, header compression, flow control, limits against floods. This package
moves its bytes, and speaks gRPC's protocol (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md) on its streams.

connection → call → handler, and back: a connection belongs to one event loop, a call is one task of it. Invariants:
nothing of a peer is kept without a bound, and a connection that fails takes only its own calls along.
"""

from server.platform.http2.limits import Limits
from server.platform.http2.listener import Listener

__all__ = ["Limits", "Listener"]
