"""/sessions, and /users/{id}/sessions for the sessions of one user."""

from aiohttp import web

from edge.oidc.access.administration_calls import (
    AdministrationCalls,
    members,
    page_asked,
    page_written,
    tenant_and_id,
    written,
)
from edge.oidc.access.body import bad_request
from edge.oidc.access.documents import Members
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import PAGE, content, described, may, paged
from edge.oidc.openapi.schemas import STRING, choice, part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import session_administration_service_pb2 as pb
from gnomon.identity.v1 import session_service_pb2

_STATES = {"Init": session_service_pb2.SESSION_STATE_INIT, "Auth": session_service_pb2.SESSION_STATE_AUTH}
_NAMES = {state: name for name, state in _STATES.items()}


class SessionsEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._sessions = stubs.session_administration
        self._calls = calls

    @described(
        "Lists the sessions of a tenant.",
        content(part(pb.ListSessionsResponse, "sessions", state=STRING)),
        paged(part(pb.ListSessionsResponse, "sessions", state=STRING)),
        query=(may("session_state", "State of the sessions.", choice(*_STATES)), *PAGE),
    )
    async def list(self, request: web.Request) -> web.Response:
        size, token = page_asked(request)
        state = request.query.get("session_state", "Auth")
        if state not in _STATES:
            raise bad_request("session_state: expected Auth or Init")
        asked = pb.ListSessionsRequest(
            tenant_id=tenant_of(request),
            caller=self._calls.caller(request),
            page_size=size,
            continuation_token=token,
            session_state=_STATES[state],
        )
        found = await self._sessions.ListSessions(asked, timeout=self._calls.timeout)
        return page_written(list(map(_members, found.sessions)), size, found.continuation_token)

    @described(
        "Lists the sessions of a user.",
        content(part(pb.ListSessionsOfUserResponse, "sessions", state=STRING)),
    )
    async def list_of_user(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.ListSessionsOfUserRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id
        )
        found = await self._sessions.ListSessionsOfUser(asked, timeout=self._calls.timeout)
        return written(list(map(_members, found.sessions)))


def _members(session: pb.ListedSession) -> Members:
    return members(session) | {"state": _NAMES.get(session.state, "Unknown")}
