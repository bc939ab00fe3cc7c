"""Session cookies of a call, as an edge passes them on: `tenant=cookie`, separated by spaces.

The default tenant has an empty name. There is one cookie per tenant that the edge considers, the preferred
tenant first.
"""

from collections.abc import Mapping

from gnomon.identity.v1 import directory_service_pb2 as pb
from server.platform.call import BROWSER_ADDRESS, CSRF_TOKEN, SESSIONS, Call


def presented(call: Call) -> pb.GetSignedInPrincipalRequest | None:
    """Return the request for the principal, or None without a session or if the peer is not an edge."""
    sessions = call.metadata.get(SESSIONS, "")
    if not sessions or not call.peer.is_edge:
        return None
    return _question(sessions, call.metadata, is_read=call.policy.is_read)


def _question(sessions: str, metadata: Mapping[str, str], *, is_read: bool) -> pb.GetSignedInPrincipalRequest:
    pairs = (session.partition("=") for session in sessions.split(" "))
    return pb.GetSignedInPrincipalRequest(
        sessions=[pb.PresentedSession(tenant_id=tenant, cookie=cookie) for tenant, _, cookie in pairs],
        peer_address=metadata.get(BROWSER_ADDRESS, ""),
        csrf_token=metadata.get(CSRF_TOKEN, ""),
        is_read=is_read,
    )
