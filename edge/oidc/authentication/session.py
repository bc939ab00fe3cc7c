"""POST /oidc/session, GET /oidc/sessioninfo and /oidc/sessioninfo/xsrf: the session of a browser."""

from datetime import UTC, datetime

import grpc
import orjson
from aiohttp import web

from edge.oidc.access.browsers import Browsers
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, done
from edge.oidc.openapi.schemas import STRING, an_object, with_any
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import session_service_pb2 as pb
from server.platform.channels import error_of

_STATES = {pb.SESSION_STATE_INIT: "Init", pb.SESSION_STATE_AUTH: "Auth"}


_SESSION = with_any(an_object(id=STRING, exp=STRING, timeout=STRING, state=STRING))


class SessionEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._sessions = stubs.sessions
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers

    @described(
        "Begins a session of a browser without one.",
        content(_SESSION, status=201),
        done(200, "The browser has a session already."),
        caller=Caller.ANYBODY,
    )
    async def post(self, request: web.Request) -> web.Response:
        """Begin a session; an existing one is not described."""
        asked = pb.BeginSessionRequest(tenant_id=tenant_of(request), browser=self._browsers.of(request))
        begun = await self._sessions.BeginSession(asked, timeout=self._timeout)
        if not begun.HasField("cookie"):
            return web.Response()
        response = _written({**_members(begun.session), "csrf_token": begun.session.csrf_token}, status=201)
        self._browsers.keep(request, response, cookie=begun.cookie)
        return response

    @described("The session of the browser.", content(_SESSION), caller=Caller.BROWSER)
    async def get(self, request: web.Request) -> web.Response:
        response = _written(_members(await self._session(request)))
        response.headers.update(self._browsers.login_status.signed_in(request))
        return response

    @described(
        "The session of the browser, with the token that its changes carry as X-CSRF-Token.",
        content(with_any(_SESSION, csrf_token=STRING)),
        caller=Caller.BROWSER,
    )
    async def get_with_csrf_token(self, request: web.Request) -> web.Response:
        session = await self._session(request)
        return _written({**_members(session), "csrf_token": session.csrf_token})

    async def _session(self, request: web.Request) -> pb.Session:
        asked = pb.GetSessionRequest(tenant_id=tenant_of(request), browser=self._browsers.of(request))
        try:
            return (await self._sessions.GetSession(asked, timeout=self._timeout)).session
        except grpc.RpcError as failure:
            raise self._browsers.login_status.refusal(request, error_of(failure)) from failure


def _members(session: pb.Session) -> dict[str, str]:
    user = {
        "user_id": session.user_id,
        "roles": ",".join(session.roles),
        "groups": ",".join(session.groups),
    }
    return {
        "id": session.id,
        **{name: value for name, value in user.items() if value},
        "exp": _time(session.expires_at),
        "timeout": _time(session.idle_until),
        "state": _STATES.get(session.state, "Unknown"),
    }


def _time(seconds: int) -> str:
    """RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _written(members: dict[str, str], *, status: int = 200) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(members), content_type="application/json")
