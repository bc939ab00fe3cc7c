"""gRPC over HTTP/2 on the event loop: the listener behind `GrpcServer`.

libnghttp2 keeps the state of a connection: frames, header compression, flow control and flood limits. This
package moves the bytes, and implements gRPC's protocol
(github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md) on the streams.

A connection belongs to one event loop and dispatches its calls to handlers; each call is a task of the
connection. Invariants: everything kept for a peer is bounded, and a failing connection affects only its own
calls.
"""

from server.platform.http2.limits import Limits
from server.platform.http2.listener import Listener

__all__ = ["Limits", "Listener"]
