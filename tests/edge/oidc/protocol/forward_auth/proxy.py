"""A service behind a reverse proxy that authorizes requests like nginx's auth_request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import ClientResponse, ClientSession, DummyCookieJar, web
from aiohttp.test_utils import TestServer, unused_port

from tests.edge.oidc.tenants.world import World

CLIENT = "wiki"
CALLBACK = f"/auth/v1/clients/{CLIENT}/forward_auth/callback"
CSRF_HEADER = "X-Forward-Auth-Csrf-Token"

_PASSED_ON = ("Cookie", CSRF_HEADER)


@dataclass(frozen=True)
class ReverseProxy:
    """A proxy and its service; the service returns the headers that it got about the caller."""

    world: World
    http: ClientSession

    async def handle(self, request: web.Request) -> web.Response:
        if request.path == CALLBACK:
            return await _relayed(await self._ask(request, request.path_qs))
        question = f"/auth/v1/clients/{CLIENT}/forward_auth?danger_cookie_insecure=true"
        answer = await self._ask(request, question)
        if answer.status != 200:
            return await _relayed(answer)
        told = {name.lower(): value for name, value in answer.headers.items()}
        return web.json_response({"path": request.path_qs, "method": request.method, "told": told})

    async def _ask(self, request: web.Request, path: str) -> ClientResponse:
        passed_on = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        forwarded = {
            "X-Forwarded-For": request.remote or "",
            "X-Forwarded-Proto": "http",
            "X-Forwarded-Host": request.headers["Host"],
            "X-Forwarded-Uri": request.path_qs,
            "X-Forwarded-Method": request.method,
        }
        address = f"http://127.0.0.1:{self.world.port}{path}"
        return await self.http.get(address, headers=passed_on | forwarded, allow_redirects=False)


async def _relayed(answer: ClientResponse) -> web.Response:
    """Relay the response; like `error_page 401`, a caller who must sign in is redirected."""
    status = 302 if answer.status == 401 else answer.status
    response = web.Response(status=status, body=await answer.read())
    for name in ("Location", "Set-Cookie"):
        for value in answer.headers.getall(name, ()):
            response.headers.add(name, value)
    return response


@asynccontextmanager
async def service(world: World) -> AsyncIterator[str]:
    """Yield the origin of the service, whose client the provider knows."""
    port = unused_port()
    origin = f"http://127.0.0.1:{port}"
    await world.add_app(
        "default",
        id=CLIENT,
        redirect_uris=(f"{origin}{CALLBACK}",),
        oauth_scopes=("openid", "email", "profile", "groups"),
    )
    async with ClientSession(cookie_jar=DummyCookieJar()) as http:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", ReverseProxy(world, http).handle)
        async with TestServer(app, port=port):
            yield origin
