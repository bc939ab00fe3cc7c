"""Sectors of clients with pairwise subjects: OpenID Connect Dynamic Registration §5."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from joserfc import jws

from gnomon.directory.v1.authentication_service_pb2 import GetAuthenticationRequest
from gnomon.directory.v1.authentication_service_pb2_grpc import AuthenticationServiceStub
from identity.clients.dynamic.config import DynamicClientsConfig
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.administration.test_clients import NEW, WHOLE
from tests.edge.oidc.clients.conftest import registering
from tests.edge.oidc.clients.registrant import REDIRECT_URI, Registrant
from tests.edge.oidc.people.somebody import Somebody
from tests.identity.deployment import ISSUER, LOOPBACK

OTHER_URI = "https://shop.example.com/callback"


@dataclass
class Sector:
    """A host with a document; `asked` counts the requests."""

    registrant: Registrant
    uri: str = ""
    document: object = field(default_factory=lambda: [REDIRECT_URI, OTHER_URI])
    status: int = 200
    asked: int = 0

    async def answer(self, _request: web.Request) -> web.Response:
        self.asked += 1
        return web.json_response(self.document, status=self.status)

    def metadata(self, *redirect_uris: str) -> dict[str, object]:
        return {
            "subject_type": "pairwise",
            "sector_identifier_uri": self.uri,
            "redirect_uris": list(redirect_uris or (REDIRECT_URI,)),
        }


@pytest.fixture
async def sector() -> AsyncIterator[Sector]:
    async with registering(DynamicClientsConfig(enabled=True), outgoing=LOOPBACK) as registrant:
        sector = Sector(registrant)
        app = web.Application()
        app.router.add_get("/sector", sector.answer)
        async with TestServer(app) as server:
            sector.uri = str(server.make_url("/sector"))
            yield sector


async def test_a_client_joins_a_sector_whose_document_lists_its_addresses(sector: Sector) -> None:
    client = await sector.registrant.registered(**sector.metadata(REDIRECT_URI, OTHER_URI))

    assert (client["subject_type"], client["sector_identifier_uri"]) == ("pairwise", sector.uri)
    assert sector.asked == 1


async def test_addresses_of_one_host_are_a_sector_without_a_document(sector: Sector) -> None:
    client = await sector.registrant.registered(subject_type="pairwise")

    assert client["subject_type"] == "pairwise"
    assert "sector_identifier_uri" not in client


@pytest.mark.parametrize(
    ("document", "status"),
    [
        pytest.param([OTHER_URI], 200, id="the address is not listed"),
        pytest.param({"redirect_uris": [REDIRECT_URI]}, 200, id="no array"),
        pytest.param([REDIRECT_URI, 7], 200, id="no text"),
        pytest.param([REDIRECT_URI], 404, id="no document"),
        pytest.param([REDIRECT_URI], 302, id="a redirect"),
        pytest.param([REDIRECT_URI, "x" * 70_000], 200, id="too large"),
    ],
)
async def test_a_client_is_refused_that_the_sector_does_not_admit(
    sector: Sector, document: object, status: int
) -> None:
    sector.document, sector.status = document, status

    answer = await sector.registrant.register({"client_name": "The app"} | sector.metadata())

    assert answer.status == 400
    refusal = await answer.json()
    assert refusal["error"] == "invalid_client_metadata"
    assert refusal["error_description"].startswith("sector_identifier_uri")


async def test_an_address_makes_the_provider_read_one_document_a_minute(sector: Sector) -> None:
    sector.document = []
    body = {"client_name": "The app"} | sector.metadata()

    answers = [await sector.registrant.register(body, address="192.0.2.77") for _ in range(3)]

    assert [answer.status for answer in answers] == [400, 429, 429]
    assert sector.asked == 1


async def test_a_change_reads_the_document_only_for_other_addresses(sector: Sector) -> None:
    client = await sector.registrant.registered(**sector.metadata())
    named = {"client_id": client["client_id"], "client_name": "Renamed"} | sector.metadata()

    renamed = await sector.registrant.at("PUT", client, named)
    client = await renamed.json()
    moved = await sector.registrant.at("PUT", client, named | sector.metadata("https://evil.example/cb"))

    assert (renamed.status, moved.status) == (200, 400)
    assert sector.asked == 2


async def test_a_client_keeps_pairwise_subjects(sector: Sector) -> None:
    client = await sector.registrant.registered(subject_type="pairwise")

    answer = await sector.registrant.at(
        "PUT", client, {"redirect_uris": [REDIRECT_URI], "subject_type": "public"}
    )

    assert (await answer.json())["subject_type"] == "pairwise"


async def test_administrators_set_the_type_and_the_sector(sector: Sector) -> None:
    token = (await sector.registrant.deployment.issue()).access_token
    administrator = Administrator(sector.registrant.http, f"Bearer {token}")
    await administrator.send("POST", "clients", NEW)
    whole: dict[str, Any] = WHOLE | {"backchannel_logout_uri": None} | sector.metadata()

    changed = await administrator.send("PUT", "clients/app", whole)
    sector.document = []
    renamed = await administrator.send("PUT", "clients/app", whole | {"name": "Again"})
    moved = await administrator.send("PUT", "clients/app", whole | {"redirect_uris": [OTHER_URI]})

    client = await changed.json()
    assert (client["subject_type"], client["sector_identifier_uri"]) == ("pairwise", sector.uri)
    assert [answer.status for answer in (changed, renamed, moved)] == [200, 200, 400]


@pytest.mark.parametrize(
    "change",
    [
        {"subject_type": "private"},
        {"subject_type": "pairwise"},
        {"subject_type": "pairwise", "redirect_uris": []},
        {
            "subject_type": "pairwise",
            "redirect_uris": [REDIRECT_URI],
            "flows_enabled": ["urn:ietf:params:oauth:grant-type:device_code"],
        },
        {"subject_type": "pairwise", "redirect_uris": ["com.example.app:/back"]},
        {"sector_identifier_uri": "https://app.example.com/sector", "redirect_uris": []},
    ],
)
async def test_administrators_hear_what_makes_no_sector(sector: Sector, change: dict[str, Any]) -> None:
    token = (await sector.registrant.deployment.issue()).access_token
    administrator = Administrator(sector.registrant.http, f"Bearer {token}")
    await administrator.send("POST", "clients", NEW)

    answer = await administrator.send("PUT", "clients/app", WHOLE | change)

    assert answer.status == 400


async def test_a_token_opens_the_process_api_without_telling_whose_it_is(sector: Sector) -> None:
    client = await sector.registrant.registered(
        subject_type="pairwise", token_endpoint_auth_method="client_secret_post"
    )
    token = await access_token(sector.registrant, client)

    stub = AuthenticationServiceStub(sector.registrant.deployment.channel)  # type: ignore[arg-type]  # a local one
    metadata = (("authorization", f"Bearer {token}"), ("x-tenant-id", "default"))
    told = await stub.GetAuthentication(GetAuthenticationRequest(), metadata=metadata)

    shown = told.authentication
    assert shown.username == payload(token)["sub"]
    assert not shown.HasField("email")
    assert not shown.HasField("display_name")
    assert "default" in [tenant.tenant_id for tenant in shown.tenants]


def payload(token: str) -> dict[str, Any]:
    return dict(json.loads(jws.extract_compact(token.encode()).payload))


async def access_token(registrant: Registrant, client: dict[str, Any]) -> str:
    """Sign Alice in at the client, with her consent."""
    person = Somebody(registrant.http, ISSUER, "alice@example.com")
    asked = await person.begin() | {"client_id": client["client_id"], "redirect_uri": REDIRECT_URI}
    question = await (await person.sign_in(asked=asked)).json()
    accepted = await person.send(
        "POST",
        "/oidc/authorize/consent",
        authorization_id=question["authorization_id"],
        decision="accept",
    )
    form = {
        "grant_type": "authorization_code",
        "code": accepted.headers["location"].partition("code=")[2].partition("&")[0],
        "redirect_uri": REDIRECT_URI,
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
        "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    }
    issued = await registrant.http.post("/auth/v1/oidc/token", data=form)
    return str((await issued.json())["access_token"])
