"""Real answers of the provider are those of its OpenAPI document."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.administration.test_providers import MODEST
from tests.edge.oidc.conftest import Http
from tests.edge.oidc.openapi.published import operations, published, undocumented
from tests.edge.oidc.test_token_endpoint import AS_SERVICE
from tests.identity.deployment import NOON, Deployment

OIDC = "/auth/v1/oidc"
_VARIABLE = re.compile(r"\{\w+\}")
# The stream of events never ends.
# Their refusals name no members.
ELSEWHERE = {"/auth/v1/clients_dyn", "/auth/v1/clients_dyn/{id}", "/auth/v1/clients/{id}/secret"}
_ENDLESS = "/auth/v1/events/stream"

ANNA = {"email": "anna@example.com", "given_name": "Anna", "language": "en", "roles": []}
# Administration in the order of the steps; {id} is the id that the step before it answered with.
STEPS: Sequence[tuple[str, str, object]] = (
    ("POST", "roles", {"role": "owner"}),
    ("GET", "roles", None),
    ("PUT", "roles/{id}", {"role": "keeper"}),
    ("DELETE", "roles/{id}", None),
    ("POST", "groups", {"group": "people"}),
    ("GET", "groups", None),
    ("PUT", "groups/{id}", {"group": "persons"}),
    ("POST", "scopes", {"scope": "shop"}),
    ("GET", "scopes", None),
    ("PUT", "scopes/{id}", {"scope": "shops"}),
    ("DELETE", "scopes/{id}", None),
    ("POST", "users/attr", {"name": "shoe_size", "desc": "Size of the shoes", "user_editable": True}),
    ("GET", "users/attr", None),
    ("POST", "users", ANNA),
    ("POST", "users", ANNA),
    ("GET", "users", None),
    ("GET", "users?page_size=1", None),
    ("GET", "users/email/anna@example.com", None),
    ("GET", "users/{id}", None),
    ("PATCH", "users/{id}", {"put": [{"key": "family_name", "value": "Smith"}]}),
    ("GET", "users/{id}/attr", None),
    ("PUT", "users/{id}/attr", {"values": [{"key": "shoe_size", "value": 42}]}),
    ("GET", "users/{id}/attr/editable", None),
    ("GET", "users/{id}/sessions", None),
    ("GET", "users/{id}/devices", None),
    ("GET", "users/{id}/consents", None),
    ("GET", "users/{id}/webauthn", None),
    ("GET", "users/{id}/one_time_codes", None),
    ("GET", "users/{id}/recovery_codes", None),
    ("DELETE", "users/{id}", None),
    (
        "POST",
        "clients",
        {"id": "shop", "confidential": True, "redirect_uris": ["https://shop.example.com/cb"]},
    ),
    ("GET", "clients", None),
    ("GET", "clients/{id}", None),
    ("GET", "clients/{id}/screens", None),
    ("PUT", "clients/{id}/screens", {"theme": "dark"}),
    ("PUT", "clients/{id}/secret", None),
    ("DELETE", "clients/{id}", None),
    ("POST", "api_keys", {"name": "reader", "access": [{"group": "Users", "access_rights": ["read"]}]}),
    ("GET", "api_keys", None),
    ("PUT", "api_keys/reader", {"name": "reader", "exp": 4_000_000_000}),
    ("PUT", "api_keys/reader/secret", None),
    ("DELETE", "api_keys/reader", None),
    ("POST", "blacklist", {"ip": "192.0.2.7", "exp": int(NOON.timestamp()) + 3600}),
    ("GET", "blacklist", None),
    ("DELETE", "blacklist/192.0.2.7", None),
    ("POST", "providers/create", MODEST),
    ("POST", "providers", None),
    ("GET", "providers/{id}/delete_safe", None),
    ("DELETE", "providers/{id}", None),
    ("GET", "password_policy", None),
    ("PUT", "password_policy", {"length_min": 12, "length_max": 128}),
    ("POST", "tenants", {"id": "joinery", "name": "Joinery"}),
    ("GET", "tenants", None),
    ("GET", "tenants/{id}", None),
    ("GET", "tenants/{id}/settings", None),
    ("PUT", "tenants/{id}", {"name": "Joiners"}),
    ("POST", "tenants/{id}/domains", {"domain": "joinery.example.com"}),
    ("GET", "tenants/joinery/domains", None),
    ("POST", "events", {"from": 0}),
    ("POST", "events/test", None),
    ("GET", "sessions", None),
)


@pytest.fixture(scope="module")
def document() -> Any:
    return published()


@pytest.fixture
async def administrator(http: Http, deployment: Deployment) -> Administrator:
    return Administrator(http, f"Bearer {(await deployment.issue()).access_token}")


async def test_what_an_administrator_does_is_answered_as_documented(
    administrator: Administrator, document: Any
) -> None:
    found, latest, refused = [], "", []
    for method, template, body in STEPS:
        response = await administrator.send(method, template.replace("{id}", latest), body)
        found += await undocumented(document, method, _path_of(document, template), response)
        if response.status >= 400:
            refused.append((method, template, response.status))
        elif method == "POST" and response.content_type == "application/json":
            members = await response.json()
            latest = members.get("id", latest) if isinstance(members, dict) else latest

    assert sorted(set(found)) == []
    assert refused == [("POST", "users", 409)]


def _path_of(document: Any, template: str) -> str:
    """Return the path of the document that a request has."""
    path = f"/auth/v1/{template.partition('?')[0]}"
    exact = [each for each in document["paths"] if each == path]
    fitting = [each for each in document["paths"] if re.fullmatch(_VARIABLE.sub("[^/]+", each), path)]
    return (exact or fitting)[0]


async def test_requests_about_nothing_are_refused_as_documented(
    deployment: Deployment, administrator: Administrator, document: Any
) -> None:
    app = web.Application()
    app.add_routes(
        routes(
            deployment.channel,
            OidcConfig(),
            deployment.clock,
            kept=KeptDocuments(deployment.identity.revision),
            has_fed_cm=True,
            has_session_frame=True,
        )
    )
    found = []

    async with TestClient(TestServer(app)) as http:
        for headers in ({}, {"Authorization": administrator.authorization}):
            for method, path, _ in operations(document):
                if path == _ENDLESS:
                    continue
                address = _VARIABLE.sub("nothing", path)
                response = await http.request(method, address, headers=headers, allow_redirects=False)
                found += await undocumented(document, method, path, response)

    assert found == []


async def test_published_documents_are_as_documented(http: Http, document: Any) -> None:
    found = []
    for path in (
        "/.well-known/openid-configuration",
        "/auth/v1/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
        "/auth/v1/oidc/certs",
    ):
        response = await http.get(path)
        found += [*await undocumented(document, "GET", path, response), *([] if response.ok else [path])]

    assert found == []


async def test_protocol_endpoints_answer_a_client_as_documented(http: Http, document: Any) -> None:
    issued = await http.post(f"{OIDC}/token", data={"grant_type": "client_credentials"}, headers=AS_SERVICE)
    token = (await issued.json())["access_token"]
    forms = {
        f"{OIDC}/token": {"grant_type": "client_credentials"},
        f"{OIDC}/introspect": {"token": token},
        f"{OIDC}/token/revoke": {"token": token},
    }

    found = []
    for path, form in forms.items():
        response = await http.post(path, data=form, headers=AS_SERVICE)
        found += [*await undocumented(document, "POST", path, response), *([] if response.ok else [path])]

    assert found == []


async def test_protocol_endpoints_refuse_strangers_as_documented(
    http: Http, deployment: Deployment, document: Any
) -> None:
    token = (await deployment.issue()).access_token
    forms = {
        f"{OIDC}/token": {"grant_type": "no-such-grant"},
        f"{OIDC}/introspect": {"token": token},
        f"{OIDC}/token/revoke": {"token": token},
        f"{OIDC}/par": {"response_type": "code"},
        f"{OIDC}/device": {"scope": "openid"},
    }

    found, statuses = [], set()
    for path, form in forms.items():
        response = await http.post(path, data=form)
        statuses.add(response.status)
        found += await undocumented(document, "POST", path, response)

    assert found == []
    assert statuses <= {400, 401}


async def test_the_members_of_a_body_are_those_that_the_server_reads(
    administrator: Administrator, document: Any
) -> None:
    """A body with an unknown member is refused with the list of the known ones."""
    found, others = [], set()
    for method, path, operation in operations(document):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        # Documents of SCIM may have members of further schemas.
        if content is None or "/scim/v2/" in path:
            continue
        schema = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
        address = _VARIABLE.sub("nothing", path).removeprefix("/auth/v1/")
        response = await administrator.send(method, address, {"no such member": 1})
        _, is_list, members = (await response.json())["message"].partition("nothing else than ")
        if not is_list:
            others.add(path)
        elif set(members.split(", ")) != schema["properties"].keys():
            found.append(f"{method} {path}: {members}")

    assert found == []
    assert others == ELSEWHERE
