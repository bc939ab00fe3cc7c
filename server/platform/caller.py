"""Facts about the caller, from the transport or from an authenticated edge; never from the request.

An edge authenticates once, when it opens its tunnel, with the secret that it shares with the services. A
channel inside the process can be declared an edge's. Every other peer is identified by the address of its
connection and the credential of its call.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from google.protobuf.message import Message

from gnomon.identity.v1 import browser_pb2, caller_pb2
from server.platform.call import AUTHORIZATION, Call
from server.platform.errors import Unauthenticated
from server.platform.peer import Peer
from server.platform.policy import CallerKind

EDGE_SECRET = "x-edge-secret"  # noqa: S105  # the name of its metadata


@dataclass(frozen=True, slots=True)
class EdgeSecret:
    """The secret that edges and services share; when it is empty, no other process is accepted as an edge."""

    text: str = ""

    def peer(self, address: str, metadata: Mapping[str, str]) -> Peer:
        """Return the peer of a stream, an edge if its metadata has the secret; raises Unauthenticated for a wrong one."""
        presented = metadata.get(EDGE_SECRET)
        if presented is None:
            return Peer(address)
        if not self.text or not hmac.compare_digest(presented.encode(), self.text.encode()):
            raise Unauthenticated("expected edge.secret as the services have it")
        return Peer(address, is_edge=True)


NO_EDGES = EdgeSecret()


def check_caller(call: Call) -> None:
    """Accept statements about browsers and peers from edges only; fill in the caller of other peers' requests."""
    if call.peer.is_edge:
        return
    match call.policy.caller:
        case CallerKind.EDGE:
            raise Unauthenticated("only an edge of the deployment may call this")
        case CallerKind.CREDENTIAL:
            call.request = _with_credential(call)
        case CallerKind.PRINCIPAL | CallerKind.ANYBODY:
            return


def _with_credential(call: Call) -> Message:
    """Copy the request with the caller that the credential shows; raises Unauthenticated without a credential."""
    request = type(call.request)()
    request.CopyFrom(call.request)
    cast("Any", request).caller.CopyFrom(_caller(call))
    return request


def _caller(call: Call) -> caller_pb2.Caller:
    scheme, _, credential = call.metadata.get(AUTHORIZATION, "").partition(" ")
    browser = browser_pb2.Browser(peer_address=call.peer.address)
    match scheme.lower() if credential.strip() else "":
        case "bearer":
            return caller_pb2.Caller(access_token=credential.strip(), browser=browser)
        case "api-key":
            return caller_pb2.Caller(api_key=credential.strip(), browser=browser)
        case _:
            raise Unauthenticated(
                "expected authorization: Bearer with an access token, or API-Key with a key"
            )
