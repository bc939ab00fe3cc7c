import json

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

from edge.kept_documents import KeptDocuments
from edge.oidc.config import OidcConfig
from edge.oidc.routes import routes
from identity.crypto.jose.algorithms import SigningAlgorithm
from server.platform.call import TenantId
from tests.identity.deployment import ISSUER, NOON, Deployment

Http = TestClient[web.Request, web.Application]

OPENID = "/.well-known/openid-configuration"
OAUTH = "/.well-known/oauth-authorization-server"
SIX = [f"/auth/v1{OPENID}", f"/auth/v1{OAUTH}", OPENID, OAUTH, f"{OAUTH}/auth/v1", f"{OAUTH}/auth/v1/"]
ACME = [f"/auth/v1/acme{OPENID}", f"/auth/v1/acme{OAUTH}", f"{OAUTH}/auth/v1/acme", f"{OAUTH}/auth/v1/acme/"]
DOCUMENTS = [SIX[0], "/auth/v1/oidc/certs"]


@pytest.mark.parametrize("paths", [pytest.param(SIX, id="default tenant"), pytest.param(ACME, id="acme")])
async def test_all_addresses_of_a_tenant_have_the_same_bytes(http: Http, paths: list[str]) -> None:
    bodies = {await (await http.get(path)).read() for path in paths}

    assert len(bodies) == 1


async def test_a_scope_is_published_at_all_addresses_of_its_tenant_as_soon_as_it_is_made(
    http: Http, deployment: Deployment
) -> None:
    headers = {"Authorization": f"Bearer {(await deployment.issue()).access_token}"}
    for scope in ("work", "orders"):
        made = await http.post("/auth/v1/acme/scopes", json={"scope": scope}, headers=headers)
        assert made.status == 200, await made.text()

    bodies = {await (await http.get(path)).read() for path in ACME}

    [scopes] = [json.loads(body)["scopes_supported"] for body in bodies]
    assert scopes[-2:] == ["orders", "work"]
    assert (await (await http.get(SIX[0])).json())["scopes_supported"] == scopes[:-2]


ENDPOINTS = {
    "authorization_endpoint": "oidc/authorize",
    "token_endpoint": "oidc/token",
    "userinfo_endpoint": "oidc/userinfo",
    "introspection_endpoint": "oidc/introspect",
    "revocation_endpoint": "oidc/token/revoke",
    "end_session_endpoint": "oidc/logout",
    "device_authorization_endpoint": "oidc/device",
    "pushed_authorization_request_endpoint": "oidc/par",
    "jwks_uri": "oidc/certs",
}


async def test_the_metadata_names_what_works(http: Http) -> None:
    metadata = await (await http.get(SIX[0])).json()

    assert metadata["issuer"] == ISSUER
    assert {name: f"{ISSUER}{path}" for name, path in ENDPOINTS.items()}.items() <= metadata.items()
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["response_modes_supported"] == [
        "query",
        "form_post",
        "jwt",
        "query.jwt",
        "fragment.jwt",
        "form_post.jwt",
    ]
    assert metadata["authorization_signing_alg_values_supported"] == [
        "RS256",
        "ES256",
        "EdDSA",
        "RS384",
        "RS512",
    ]
    assert metadata["grant_types_supported"] == [
        "authorization_code",
        "refresh_token",
        "urn:ietf:params:oauth:grant-type:device_code",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "urn:openid:params:grant-type:ciba",
    ]
    assert metadata["id_token_signing_alg_values_supported"] == ["RS256", "ES256", "EdDSA", "RS384", "RS512"]
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["request_parameter_supported"] is True
    assert metadata["request_uri_parameter_supported"] is True
    assert metadata["require_request_uri_registration"] is True
    assert "RS256" in metadata["request_object_signing_alg_values_supported"]
    assert "none" not in metadata["request_object_signing_alg_values_supported"]
    assert "registration_endpoint" not in metadata
    assert metadata["prompt_values_supported"] == ["none", "login", "consent", "select_account"]
    assert metadata["authorization_response_iss_parameter_supported"] is True


@pytest.mark.parametrize("path", ENDPOINTS.values())
async def test_what_the_metadata_names_is_there(http: Http, path: str) -> None:
    answer = await http.get(f"/auth/v1/{path}", allow_redirects=False)

    assert answer.status in {200, 400, 401, 405}


async def test_the_metadata_holds_for_an_independent_reader(http: Http) -> None:
    metadata = AuthorizationServerMetadata(await (await http.get(SIX[1])).json())

    metadata.validate_issuer()
    metadata.validate_token_endpoint()
    metadata.validate_jwks_uri()
    metadata.validate_scopes_supported()
    metadata.validate_grant_types_supported()
    metadata.validate_token_endpoint_auth_methods_supported()


async def test_another_tenant_has_an_issuer_and_endpoints_of_its_own(http: Http) -> None:
    metadata = await (await http.get(ACME[0])).json()

    own = [metadata[member] for member in ("issuer", "token_endpoint", "jwks_uri")]
    assert [f"{ISSUER}acme/", f"{ISSUER}acme/oidc/token", f"{ISSUER}acme/oidc/certs"] == own


@pytest.mark.parametrize("name", ["Host", "X-Forwarded-Host", "Forwarded"])
async def test_no_header_changes_the_issuer(http: Http, name: str) -> None:
    metadata = await (await http.get(SIX[0], headers={name: "evil.example"})).json()

    assert metadata["issuer"] == ISSUER


@pytest.mark.parametrize("tenant", ["nobody", "oidc", "users", "Acme", "a" * 33, "a%2Fb"])
async def test_an_unknown_tenant_has_no_metadata(http: Http, tenant: str) -> None:
    response = await http.get(f"/auth/v1/{tenant}{OPENID}", allow_redirects=False)

    refused = await response.json()
    assert response.status == 404
    assert refused == {"error": "NotFound", "message": refused["message"], "timestamp": int(NOON.timestamp())}


async def test_a_percent_encoded_tenant_is_the_tenant(http: Http) -> None:
    metadata = await (await http.get(f"/auth/v1/%61cme{OPENID}")).json()

    assert metadata["issuer"] == f"{ISSUER}acme/"


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_a_page_of_any_origin_may_read_it(http: Http, path: str) -> None:
    response = await http.get(path, headers={"Origin": "https://app.example"})
    preflight = await http.options(path, headers={"Origin": "https://app.example"})

    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert preflight.status == 204
    assert preflight.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_it_cannot_be_written(http: Http, path: str) -> None:
    response = await http.post(path)

    assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (await response.json())["error"] == "MethodNotAllowed"


async def published(http: Http, issuer: str = "/auth/v1") -> list[dict[str, str]]:
    keys: list[dict[str, str]] = (await (await http.get(f"{issuer}/oidc/certs")).json())["keys"]
    return keys


async def test_published_keys_have_no_private_members(http: Http) -> None:
    first, *others = await published(http)

    assert {"kty", "kid", "use", "alg", "n", "e"} == set(first)
    assert (first["kty"], first["use"], first["alg"]) == ("RSA", "sig", "RS256")
    assert not any({"d", "p", "q", "dp", "dq", "qi"} & key.keys() for key in others)


@pytest.mark.parametrize("issuer", ["/auth/v1", "/auth/v1/acme"])
async def test_the_first_key_set_has_a_key_of_each_algorithm_that_the_metadata_names(
    http: Http, issuer: str
) -> None:
    keys = await published(http, issuer)

    metadata = await (await http.get(f"{issuer}{OPENID}")).json()
    assert metadata["id_token_signing_alg_values_supported"] == [key["alg"] for key in keys]
    assert [key["alg"] for key in keys] == ["RS256", "ES256", "EdDSA", "RS384", "RS512"]


async def test_a_key_is_found_by_its_id(http: Http) -> None:
    for key in await published(http):
        found = await http.get(f"/auth/v1/oidc/certs/{key['kid']}")

        assert key == await found.json()


async def test_a_tenants_key_is_not_found_at_another(http: Http) -> None:
    for key in await published(http, "/auth/v1/acme"):
        found = await http.get(f"/auth/v1/oidc/certs/{key['kid']}")

        assert (found.status, (await found.json())["error"]) == (404, "NotFound")


async def test_keys_are_cached_and_revalidated(http: Http) -> None:
    first = await http.get("/auth/v1/oidc/certs")
    again = await http.get("/auth/v1/oidc/certs", headers={"If-None-Match": first.headers["ETag"]})
    other = await http.get("/auth/v1/acme/oidc/certs", headers={"If-None-Match": first.headers["ETag"]})

    assert first.headers["Cache-Control"] == again.headers["Cache-Control"] == "public, max-age=300"
    assert (again.status, await again.read()) == (304, b"")
    assert other.status == 200


CACHED = {
    SIX[0]: "public, no-cache",
    "/.well-known/oauth-protected-resource": "public, no-cache",
    "/auth/v1/oidc/certs": "public, max-age=300",
    "/auth/v1/openapi.json": "public, no-cache",
}


@pytest.mark.parametrize(("path", "caching"), CACHED.items())
async def test_a_document_is_not_sent_again_to_a_client_that_has_it(
    http: Http, path: str, caching: str
) -> None:
    first = await http.get(path)
    again = await http.get(path, headers={"If-None-Match": first.headers["ETag"]})
    among = await http.get(path, headers={"If-None-Match": f'"other", W/{first.headers["ETag"]}'})
    other = await http.get(path, headers={"If-None-Match": '"other"'})

    assert {caching} == {answer.headers["Cache-Control"] for answer in (first, again, among, other)}
    assert (again.status, await again.read(), among.status) == (304, b"", 304)
    assert (other.status, await other.read()) == (200, await first.read())


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_responses_from_memory_have_the_same_headers(http: Http, path: str) -> None:
    first, second, head = await http.get(path), await http.get(path), await http.head(path)

    def described(answer: ClientResponse) -> dict[str, str]:
        return {name: text for name, text in answer.headers.items() if name != "Date"}

    assert described(first) == described(second) == described(head)


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_a_document_in_memory_needs_no_service(deployment: Deployment, path: str) -> None:
    kept = KeptDocuments(deployment.identity.revision, time=lambda: 0.0)
    app = web.Application()
    app.add_routes(routes(deployment.channel, OidcConfig(), deployment.clock, kept=kept))

    async with TestClient(TestServer(app)) as http:
        # The first request for a key set has the keys made, and each new key is a change.
        for issuer in ("/auth/v1", "/auth/v1/acme", "/auth/v1/umbrella"):
            await published(http, issuer)
        first = await (await http.get(path)).read()

        await deployment.identity.stop()
        second = await http.get(path)

        assert (second.status, await second.read()) == (200, first)
        assert (await http.get(path.replace("/auth/v1", "/auth/v1/acme"))).status == 503


async def test_a_rotation_of_keys_is_published_with_its_answer(http: Http, deployment: Deployment) -> None:
    before = {key["kid"] for key in await published(http)}

    await deployment.identity.keys.rotate(TenantId("default"))

    key_set = await deployment.identity.keys.key_set(TenantId("default"))
    signing = key_set.signing_key(SigningAlgorithm.RS256).kid
    assert signing not in before
    assert (await published(http))[0]["kid"] == signing


async def test_a_tenant_that_is_disabled_has_no_documents_any_more(
    http: Http, deployment: Deployment
) -> None:
    headers = {"Authorization": f"Bearer {(await deployment.issue()).access_token}"}
    paths = (ACME[0], "/auth/v1/acme/oidc/certs")
    assert [(await http.get(path)).status for path in paths] == [200, 200]

    changed = await http.put("/auth/v1/tenants/acme", json={"enabled": False}, headers=headers)

    assert changed.status == 200, await changed.text()
    assert [(await http.get(path)).status for path in paths] == [404, 404]


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_a_malformed_request_id_is_refused_also_when_the_document_is_in_memory(
    http: Http, path: str
) -> None:
    await http.get(path)

    refused = await http.get(path, headers={"X-Request-Id": "x" * 201})

    assert refused.status == 400
