import json
import re
from dataclasses import replace

import grpc
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from gnomon.identity.v1 import key_set_service_pb2
from gnomon.identity.v1 import token_service_pb2 as pb
from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceStub
from server.platform.channels import error_of
from server.platform.errors import InvalidArgument, NotFound, OAuthError, ServiceError
from tests.identity.deployment import CONFIG, ISSUER, NOON, WORKER_SECRET, Deployment, deployed

AS_WORKER = {"client_id": "worker", "client_secret": WORKER_SECRET}


async def decoded(deployment: Deployment, token: str, tenant_id: str = "") -> jwt.Token:
    request = key_set_service_pb2.GetKeySetRequest(tenant_id=tenant_id)
    published = await KeySetServiceStub(deployment.channel).GetKeySet(request)
    jwks = [{field.name: value for field, value in jwk.ListFields()} for jwk in published.keys]
    return jwt.decode(token, KeySet.import_key_set({"keys": jwks}), algorithms=["RS256"])


async def refusal(deployment: Deployment, **fields: object) -> ServiceError:
    with pytest.raises(grpc.RpcError) as failure:
        await deployment.issue(**fields)
    return error_of(failure.value)


async def test_an_access_token_says_who_it_is_for_and_until_when(deployment: Deployment) -> None:
    issued = await deployment.issue()

    token = await decoded(deployment, issued.access_token)

    noon = int(NOON.timestamp())
    assert {"alg": "RS256", "typ": "JWT", "kid": token.header["kid"]} == token.header
    assert {
        "iss": ISSUER,
        "sub": "service",
        "aud": "service",
        "azp": "service",
        "iat": noon,
        "nbf": noon,
        "exp": noon + 1800,
        "jti": token.claims["jti"],
        "typ": "Bearer",
        "scope": issued.scope,
    } == token.claims
    assert re.fullmatch("[A-Za-z0-9]{12}", token.claims["jti"])


async def test_the_answer_says_how_to_present_the_token_and_for_how_long(deployment: Deployment) -> None:
    issued = await deployment.issue(**AS_WORKER)

    assert (issued.token_type, issued.expires_in, issued.scope) == ("Bearer", 1800, "job:work history:read")


async def test_two_tokens_never_have_the_same_id(deployment: Deployment) -> None:
    first, second = await deployment.issue(), await deployment.issue()

    assert first.access_token != second.access_token


async def test_an_audience_stands_beside_the_client(deployment: Deployment) -> None:
    issued = await deployment.issue(audience="zeebe-api")

    token = await decoded(deployment, issued.access_token)

    assert token.claims["aud"] == ["service", "zeebe-api"]


@pytest.mark.parametrize("client", [AS_WORKER, {"client_id": "operator"}])
async def test_the_default_tenants_tokens_are_bound_to_no_tenant(
    deployment: Deployment, client: dict[str, str]
) -> None:
    issued = await deployment.issue(**client)

    token = await decoded(deployment, issued.access_token)

    assert token.claims["iss"] == ISSUER
    assert "tid" not in token.claims


async def test_a_tenants_provider_issues_in_its_own_name_with_its_own_key(deployment: Deployment) -> None:
    issued = await deployment.issue(client_id="operator", tenant_id="acme")

    token = await decoded(deployment, issued.access_token, "acme")

    assert (f"{ISSUER}acme/", "acme") == (token.claims["iss"], token.claims["tid"])
    with pytest.raises(Exception, match="key"):
        await decoded(deployment, issued.access_token)


async def test_the_scope_narrows_the_token(deployment: Deployment) -> None:
    issued = await deployment.issue(scope="job:work  process:deploy job:work")

    assert issued.scope == "job:work process:deploy"


REFUSALS = [
    pytest.param("invalid_request", {"grant_type": ""}, id="no grant type"),
    pytest.param("unsupported_grant_type", {"grant_type": "password"}, id="unknown grant type"),
    pytest.param("invalid_client", {"client_id": "nobody"}, id="unknown client"),
    pytest.param("invalid_client", {"client_secret": "wrong"}, id="wrong secret"),
    pytest.param("invalid_client", {"client_secret": ""}, id="no secret"),
    pytest.param(
        "invalid_client", {"client_authentication": pb.CLIENT_AUTHENTICATION_NONE}, id="no authentication"
    ),
    pytest.param("invalid_client", {**AS_WORKER, "tenant_id": "umbrella"}, id="client of another tenant"),
    pytest.param("invalid_scope", {**AS_WORKER, "scope": "process:deploy"}, id="scope of others"),
    pytest.param("invalid_scope", {"scope": "job:work all\tthe things"}, id="malformed scope"),
    pytest.param("invalid_target", {"resource": ["https://api.example.com"]}, id="resource"),
    pytest.param("invalid_request", {"audience": "ü" * 2048}, id="token too long"),
]


@pytest.mark.parametrize(("error", "fields"), REFUSALS)
async def test_a_refusal_has_the_code_of_its_rfc(
    deployment: Deployment, error: str, fields: dict[str, object]
) -> None:
    refused = await refusal(deployment, **fields)

    assert isinstance(refused, OAuthError)
    assert error == refused.error


async def test_an_unknown_client_and_a_wrong_secret_look_the_same(deployment: Deployment) -> None:
    unknown = await refusal(deployment, client_id="nobody")
    wrong = await refusal(deployment, client_secret="wrong")

    assert unknown.status() == wrong.status()


async def test_an_unknown_tenant_has_no_provider(deployment: Deployment) -> None:
    assert isinstance(await refusal(deployment, tenant_id="nobody"), NotFound)


async def test_a_request_beyond_its_bounds_reaches_no_client(deployment: Deployment) -> None:
    assert isinstance(await refusal(deployment, client_id="x" * 257), InvalidArgument)


async def test_secrets_and_tokens_never_reach_the_log(
    deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")

    issued = await deployment.issue()
    await refusal(deployment, client_secret="s3cret-that-is-wrong")

    logged = json.dumps([vars(record) for record in caplog.records], default=str)
    assert "token refused" in logged
    assert "s3cret" not in logged
    assert issued.access_token not in logged


async def test_the_lifetime_of_tokens_is_configured() -> None:
    async with deployed(
        replace(CONFIG, token=replace(CONFIG.token, access_token_lifetime_secs=60))
    ) as deployment:
        issued = await deployment.issue()

    assert issued.expires_in == 60
