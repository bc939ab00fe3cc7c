"""Every operation that the provider serves stands in its OpenAPI document, and no other."""

import re
from typing import Any

import pytest
from openapi_spec_validator import validate

from edge.oidc.config import OidcConfig
from edge.oidc.endpoint import Endpoint
from edge.oidc.openapi.document import address_of
from edge.oidc.openapi.unconnected import Unconnected
from edge.oidc.routes import routes
from identity.access.tokens.claims import PERSON_CLAIMS
from tests.edge.oidc.conftest import Http
from tests.edge.oidc.openapi.published import operations, published

# Pages of the whole server, and addresses below /auth without an endpoint: they lead to an entry page or answer 404.
WITHOUT_OPERATION = {
    "/",
    "/favicon.ico",
    "/robots.txt",
    "/auth",
    "/auth/{rest}",
    "/auth/v1/{tenant}",
    "/auth/v1/{tenant}/{rest}",
}


@pytest.fixture(scope="module")
def document() -> Any:
    return published()


def _served() -> set[tuple[str, str]]:
    found = set()
    for route in routes(Unconnected(), OidcConfig(), has_fed_cm=True, has_session_frame=True):
        endpoint = getattr(route.handler, "__self__", None)
        assert isinstance(endpoint, Endpoint)
        found |= {(method, address_of(route.path)) for method in endpoint.handlers}
    return found


def test_the_document_is_valid_openapi(document: Any) -> None:
    validate(document)


def test_every_route_is_an_operation_and_every_operation_is_a_route(document: Any) -> None:
    of_default_tenant = {(method, path) for method, path, _ in operations(document)}
    of_tenants = {
        (method, other)
        for method, path, _ in operations(document)
        if (other := document["paths"][path].get("x-tenant-path"))
    }

    served = {(method, path) for method, path in _served() if path not in WITHOUT_OPERATION}

    assert served == of_default_tenant | of_tenants


def test_every_operation_says_who_may_call_it_and_what_it_answers(document: Any) -> None:
    for method, path, operation in operations(document):
        assert operation["summary"].endswith("."), path
        assert "security" in operation, path
        assert any(status < "400" for status in operation["responses"]), (method, path)


def test_a_change_of_an_administrator_takes_a_token_a_key_or_a_session(document: Any) -> None:
    operation = document["paths"]["/auth/v1/roles"]["post"]

    assert operation["security"] == [{"accessToken": []}, {"apiKey": []}, {"session": []}]
    assert operation["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/RoleBody"
    }
    assert operation["responses"]["200"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Role"
    }
    assert list(operation["responses"]) == [
        "200",
        "400",
        "401",
        "403",
        "404",
        "409",
        "413",
        "429",
        "500",
        "503",
    ]


def test_the_token_endpoint_takes_a_form(document: Any) -> None:
    operation = document["paths"]["/auth/v1/oidc/token"]["post"]

    (form,) = operation["requestBody"]["content"].items()
    assert form[0] == "application/x-www-form-urlencoded"
    assert form[1]["schema"]["required"] == ["grant_type"]
    assert "code_verifier" in form[1]["schema"]["properties"]
    assert operation["security"] == [{"client": []}, {}]
    assert document["paths"]["/auth/v1/oidc/token"]["x-tenant-path"] == "/auth/v1/{tenant}/oidc/token"


def test_introspection_takes_a_client_or_an_access_token(document: Any) -> None:
    security = document["paths"]["/auth/v1/oidc/introspect"]["post"]["security"]

    assert security == [{"client": []}, {"accessToken": []}, {}]


async def test_the_served_document_has_what_the_server_serves(http: Http, document: Any) -> None:
    served = await (await http.get("/auth/v1/openapi.json")).json()

    by_setting = re.compile("fed_cm|/web-identity$|/check_session$")
    everywhere = {path for path in document["paths"] if not by_setting.search(path)}
    assert everywhere == served["paths"].keys()
    assert document["info"] == served["info"]


def test_documented_claims_of_user_info_are_those_of_the_provider(document: Any) -> None:
    described = document["components"]["schemas"]["UserInfo"]

    assert {rule.name for rule in PERSON_CLAIMS} | {"sub"} == described["properties"].keys()
    assert described["required"] == ["sub"]


def test_a_key_names_its_parameters(document: Any) -> None:
    key = document["components"]["schemas"]["Jwk"]

    assert {"kty", "kid", "use", "alg"} == set(key["required"])
    assert {"n", "e", "crv", "x", "y"} < key["properties"].keys()
