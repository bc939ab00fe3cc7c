import pytest

from server.platform.call import AUTHORIZATION, TENANT
from server.platform.errors import PermissionDenied, ServiceError, Unauthenticated
from tests.edge_oidc.endpoints.provider import Provider

ADMINISTRATOR = {"Authorization": "Bearer mine", "x-tenant-id": "umbrella"}


@pytest.mark.parametrize(
    ("path", "tenant"),
    [("/auth/v1/oidc/rotate_jwk", "umbrella"), ("/auth/v1/acme/oidc/rotate_jwk", "acme")],
)
async def test_the_caller_is_passed_on(provider: Provider, path: str, tenant: str) -> None:
    response = await provider.http.post(path, headers=ADMINISTRATOR)

    [call] = provider.servicers.calls
    assert (response.status, await response.read()) == (200, b"")
    assert (call.policy.name, call.metadata[AUTHORIZATION]) == ("RotateKeys", "Bearer mine")
    assert call.metadata[TENANT] == tenant


@pytest.mark.parametrize(
    ("refusal", "status", "error"),
    [
        (Unauthenticated("no valid credential"), 401, "Unauthorized"),
        (PermissionDenied("the caller lacks identity:write"), 403, "Forbidden"),
    ],
)
async def test_who_may_not_is_refused(
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
