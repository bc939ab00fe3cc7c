import pytest

from gnomon.identity.v1 import key_set_service_pb2 as pb
from server.platform.errors import InvalidState, PermissionDenied, ServiceError, Unauthenticated
from tests.edge.oidc.protocol.provider import Provider

ADMINISTRATOR = {"Authorization": "Bearer mine"}


@pytest.mark.parametrize(
    ("path", "tenant"),
    [("/auth/v1/oidc/rotate_jwk", ""), ("/auth/v1/acme/oidc/rotate_jwk", "acme")],
)
async def test_the_caller_is_passed_on_to_the_tenant_of_the_address(
    provider: Provider, path: str, tenant: str
) -> None:
    response = await provider.http.post(path, headers=ADMINISTRATOR | {"x-tenant-id": "umbrella"})

    asked = provider.asked(pb.RotateKeysRequest)
    assert (response.status, await response.read()) == (200, b"")
    assert (asked.tenant_id, asked.caller.access_token) == (tenant, "mine")


async def test_a_browser_proves_its_page(provider: Provider) -> None:
    headers = {"Cookie": "__Host-GnomonSession=s3cret", "x-csrf-token": "proof"}

    await provider.http.post("/auth/v1/oidc/rotate_jwk", headers=headers)

    caller = provider.asked(pb.RotateKeysRequest).caller
    assert (caller.browser.session, caller.browser.csrf_token, caller.is_read) == ("s3cret", "proof", False)


@pytest.mark.parametrize(
    ("refusal", "status", "error"),
    [
        (Unauthenticated("no user is signed in"), 401, "Unauthorized"),
        (PermissionDenied("the caller may not do this"), 403, "Forbidden"),
        (InvalidState("as many keys as there may be"), 409, "Conflict"),
    ],
)
async def test_a_refusal_is_answered_like_those_of_other_administrators_endpoints(
    provider: Provider, refusal: ServiceError, status: int, error: str
) -> None:
    provider.answers(rotate_keys=refusal)

    response = await provider.http.post("/auth/v1/oidc/rotate_jwk", headers=ADMINISTRATOR)

    assert (response.status, (await response.json())["error"]) == (status, error)


async def test_an_ambiguous_caller_is_refused(provider: Provider) -> None:
    headers = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")]

    response = await provider.http.post("/auth/v1/oidc/rotate_jwk", headers=headers)

    assert (response.status, (await response.json())["error"]) == (400, "BadRequest")
    assert provider.servicers.requests == []


@pytest.mark.parametrize(
    ("headers", "challenge"), [({}, "Bearer"), (ADMINISTRATOR, 'Bearer error="invalid_token"')]
)
async def test_whoever_lacks_a_token_is_asked_for_one(
    provider: Provider, headers: dict[str, str], challenge: str
) -> None:
    provider.answers(rotate_keys=Unauthenticated("no valid credential"))

    response = await provider.http.post("/auth/v1/acme/oidc/rotate_jwk", headers=headers)

    assert (response.status, response.headers["WWW-Authenticate"]) == (401, challenge)
