"""The provider's endpoints on a socket, in front of services with configured responses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer
from google.protobuf.message import Message
from lxml import html

from edge.oidc.access.canonical_host import CanonicalHost
from edge.oidc.config import AccessConfig, OidcConfig
from edge.oidc.routes import routes
from server.platform.call import Call, Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.clock import VirtualClock
from server.platform.dispatch import Dispatcher
from server.platform.interceptors import interceptors
from server.platform.peer import LOCAL_EDGE
from server.platform.policy import Mode, services
from tests.edge.harness import Servicers

OPERATOR = Principal(
    "operator", frozenset({TenantId("acme"), TenantId("umbrella")}), frozenset({"identity:write"})
)
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
FORM = "application/x-www-form-urlencoded"

_ASKED_BEFORE = frozenset({"BlacklistService", "TenantService"})

Http = TestClient[web.Request, web.Application]
Kind = TypeVar("Kind", bound=Message)


@dataclass(frozen=True)
class Provider:
    servicers: Servicers
    http: Http

    def answers(self, **answers: Message | Exception) -> None:
        """Configure the response of each RPC, named in snake case."""
        self.servicers.answers.update(answers)

    def asked(self, kind: type[Kind]) -> Kind:
        """Return the last request of a type."""
        return [request for request in self.servicers.requests if isinstance(request, kind)][-1]


@asynccontextmanager
async def running(
    access: AccessConfig | None = None, *, has_fed_cm: bool = False, canonical: CanonicalHost | None = None
) -> AsyncIterator[Provider]:
    servicers = Servicers()
    # Services that are called before every request have separate servicers and their own tests.
    askers = {service: Servicers() for service in services() if service.name in _ASKED_BEFORE}
    dispatcher = Dispatcher(
        dict.fromkeys(services(), servicers) | askers, interceptors(Mode.EMBEDDED, _admit)
    )
    clock = VirtualClock(pinned=NOON)
    app = web.Application()
    channel = LocalChannel(dispatcher, OPERATOR, peer=LOCAL_EDGE)
    app.add_routes(
        routes(channel, OidcConfig(), clock, access=access, has_fed_cm=has_fed_cm, canonical=canonical)
    )
    async with TestClient(TestServer(app)) as http:
        yield Provider(servicers, http)


def _admit(_call: Call) -> None:
    """Admit every call."""


async def page_of(response: ClientResponse) -> html.HtmlElement:
    assert response.content_type == "text/html"
    return html.document_fromstring(await response.text())


def hidden_fields(page: html.HtmlElement) -> dict[str, str]:
    return {
        str(field.get("name")): str(field.get("value")) for field in page.xpath("//input[@type='hidden']")
    }


def directives(response: ClientResponse) -> dict[str, str]:
    """Return the content security policy of a response, by directive."""
    policy = response.headers["Content-Security-Policy"]
    pairs = (directive.strip().partition(" ") for directive in policy.split(";"))
    return {name: value for name, _, value in pairs if name}
