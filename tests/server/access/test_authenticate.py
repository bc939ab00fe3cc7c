"""Authentication through the interceptors and a real provider; the permission asked for is identity:read."""

import base64
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import OctKey, RSAKey

from gnomon.identity.v1 import directory_service_pb2 as pb
from gnomon.identity.v1 import key_set_service_pb2
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceStub
from server.platform.channels import error_of
from server.platform.errors import PermissionDenied, ServiceError, Unauthenticated
from tests.identity.deployment import CONFIG, ISSUER, NOON, WORKER_SECRET, Deployment, deployed

if TYPE_CHECKING:
    from identity.crypto.jose.signing_key import SigningKey

Claims = dict[str, object]


async def call(deployment: Deployment, authorization: str, tenant_id: str = "default") -> pb.Principal:
    metadata = (("authorization", authorization), ("x-tenant-id", tenant_id))
    issuer = ISSUER if tenant_id == "default" else f"{ISSUER}{tenant_id}/"
    request = pb.GetPrincipalRequest(subject="worker", issuer=issuer)
    response = await DirectoryServiceStub(deployment.channel).GetPrincipal(request, metadata=metadata)
    return response.principal


async def refusal(deployment: Deployment, authorization: str, tenant_id: str = "default") -> ServiceError:
    with pytest.raises(grpc.RpcError) as failure:
        await call(deployment, authorization, tenant_id)
    return error_of(failure.value)


async def bearer(deployment: Deployment, **fields: object) -> str:
    return f"Bearer {(await deployment.issue(**fields)).access_token}"


def parts(authorization: str) -> tuple[dict[str, object], Claims, str]:
    header, payload, signature = authorization.removeprefix("Bearer ").split(".")
    return json.loads(octets(header)), json.loads(octets(payload)), signature


def octets(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(members: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(members).encode()).decode().rstrip("=")


def forged(header: Mapping[str, object], claims: Claims, signature: str = "") -> str:
    return f"Bearer {encoded(header)}.{encoded(claims)}.{signature}"


async def signed(deployment: Deployment, tenant_id: str = "", **changes: object) -> str:
    """A token that the provider signs itself, with other claims than it would; None takes a claim away."""
    key_set = await deployment.identity.keys.key_set(tenant_id or CONFIG.bootstrap.tenant)
    _, claims, _ = parts(await bearer(deployment))
    changed = {name: value for name, value in (claims | changes).items() if value is not None}
    return f"Bearer {cast('SigningKey', key_set.keys[0]).sign(json.dumps(changed).encode())}"


async def test_a_token_of_the_provider_is_taken(deployment: Deployment) -> None:
    principal = await call(deployment, await bearer(deployment))

    assert principal.subject == "worker"


async def test_the_scheme_is_read_in_any_case(deployment: Deployment) -> None:
    authorization = (await bearer(deployment)).replace("Bearer", "bEARER")

    assert await call(deployment, authorization)


async def test_a_token_of_a_tenants_provider_is_taken_in_its_tenant_alone(deployment: Deployment) -> None:
    authorization = await bearer(deployment, client_id="operator", tenant_id="acme")

    assert await call(deployment, authorization, "acme")
    assert isinstance(await refusal(deployment, authorization, "umbrella"), PermissionDenied)


async def test_a_public_call_needs_no_token(deployment: Deployment) -> None:
    request = key_set_service_pb2.GetKeySetRequest()

    answer = await KeySetServiceStub(deployment.channel).GetKeySet(
        request, metadata=(("authorization", "junk"),)
    )

    assert answer.keys


async def test_the_scope_of_the_token_narrows_what_its_bearer_may_do(deployment: Deployment) -> None:
    narrow = await bearer(deployment, scope="job:work")
    wide = await bearer(deployment, scope="identity:read job:work")

    assert isinstance(await refusal(deployment, narrow), PermissionDenied)
    assert await call(deployment, wide)


async def test_a_scope_gives_nothing_that_the_directory_does_not(deployment: Deployment) -> None:
    authorization = await signed(deployment, sub="worker", azp="worker", tid="acme", scope="identity:read")

    assert isinstance(await refusal(deployment, authorization, "acme"), PermissionDenied)


async def test_a_client_without_the_permission_is_refused(deployment: Deployment) -> None:
    authorization = await bearer(deployment, client_id="worker", client_secret=WORKER_SECRET)

    assert isinstance(await refusal(deployment, authorization, "acme"), PermissionDenied)


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer ", "Basic c2VydmljZTpz", "token"])
async def test_a_call_without_a_bearer_token_is_refused(deployment: Deployment, authorization: str) -> None:
    refused = await refusal(deployment, authorization)

    assert isinstance(refused, Unauthenticated)


async def test_a_tampered_token_is_refused(deployment: Deployment) -> None:
    header, claims, signature = parts(await bearer(deployment, scope="job:work"))

    refused = await refusal(deployment, forged(header, claims | {"scope": "identity:read"}, signature))

    assert refused.detail == "the token's signature is invalid"


async def test_an_unsigned_token_is_refused(deployment: Deployment) -> None:
    header, claims, _ = parts(await bearer(deployment))

    for alg in ("none", "None", "NONE"):
        refused = await refusal(deployment, forged(header | {"alg": alg}, claims))

        assert refused.detail == "the token's algorithm is not accepted"


async def test_a_token_signed_with_the_public_key_as_a_shared_secret_is_refused(
    deployment: Deployment,
) -> None:
    authorization = await bearer(deployment)
    header, claims, _ = parts(authorization)
    key_set = await deployment.identity.keys.key_set(CONFIG.bootstrap.tenant)
    key = cast("SigningKey", key_set.keys[0])
    public_pem = key.private_key.as_pem(private=False)

    confused = jws.serialize_compact(
        header | {"alg": "HS256"},
        json.dumps(claims),
        OctKey.import_key(public_pem.hex()),
        algorithms=["HS256"],
    )

    refused = await refusal(deployment, f"Bearer {confused}")
    assert refused.detail == "the token's algorithm is not accepted"


async def test_a_token_signed_with_another_key_under_a_known_id_is_refused(deployment: Deployment) -> None:
    header, claims, _ = parts(await bearer(deployment))
    foreign = jws.serialize_compact(
        header, json.dumps(claims), RSAKey.generate_key(2048), algorithms=["RS256"]
    )

    refused = await refusal(deployment, f"Bearer {foreign}")

    assert refused.detail == "the token's signature is invalid"


async def test_a_header_that_demands_what_we_do_not_know_is_refused(deployment: Deployment) -> None:
    header, claims, signature = parts(await bearer(deployment))

    refused = await refusal(deployment, forged(header | {"crit": ["x"], "x": 1}, claims, signature))

    assert refused.detail == "the token's signature is invalid"


async def test_a_token_of_another_deployment_is_refused(deployment: Deployment) -> None:
    async with deployed() as other:
        authorization = await bearer(other)

    refused = await refusal(deployment, authorization)

    assert refused.detail == "the token's key is not known"


async def test_a_tenants_key_does_not_speak_for_the_default_tenant(deployment: Deployment) -> None:
    authorization = await signed(deployment, "acme", iss=ISSUER)

    refused = await refusal(deployment, authorization)

    assert refused.detail == "the token's key is not known"


FALSE_CLAIMS = [
    pytest.param(
        {"iss": "https://evil.example/auth/v1/", "tid": "default"},
        "the token's issuer or subject does not exist or is disabled",
        id="issuer",
    ),
    pytest.param(
        {"iss": "https://evil.example/auth/v1/"},
        "the token comes from another issuer",
        id="issuer, bound to no tenant",
    ),
    pytest.param({"iss": ""}, "the token names no issuer", id="no issuer"),
    pytest.param(
        {"iss": ISSUER.rstrip("/"), "tid": "default"},
        "the token's issuer or subject does not exist or is disabled",
        id="no final slash",
    ),
    pytest.param({"iss": f"{ISSUER}a/b/"}, "the token comes from another issuer", id="issuer below"),
    pytest.param({"iss": f"{ISSUER}/"}, "the token comes from another issuer", id="issuer of no tenant"),
    pytest.param({"iss": f"{ISSUER}nobody/"}, "the token's key is not known", id="unknown tenant"),
    pytest.param({"typ": "Id"}, "the token is not an access token", id="ID token"),
    pytest.param({"typ": "DPoP"}, "the token is not an access token", id="token that is bound to a key"),
    pytest.param({"typ": None}, "the token lacks a claim of an access token", id="no type"),
    pytest.param({"aud": None}, "the token lacks a claim of an access token", id="no audience"),
    pytest.param({"aud": []}, "the token lacks an audience or a subject", id="empty audience"),
    pytest.param({"sub": ""}, "the token lacks an audience or a subject", id="empty subject"),
    pytest.param({"sub": None}, "the token lacks a claim of an access token", id="no subject"),
    pytest.param(
        {"sub": "nobody"},
        "the token's issuer or subject does not exist or is disabled",
        id="unknown subject",
    ),
    pytest.param({"exp": None}, "the token lacks a claim of an access token", id="no expiry"),
    pytest.param(
        {"exp": "never"}, "the token lacks a claim of an access token", id="expiry that is no number"
    ),
    pytest.param({"nbf": None}, "the token lacks a claim of an access token", id="no beginning"),
    pytest.param({"nbf": int(NOON.timestamp()) + 60}, "the token is not valid yet", id="not yet"),
    pytest.param({"exp": int(NOON.timestamp()) - 60}, "the token is expired", id="expired"),
]


@pytest.mark.parametrize(("changes", "detail"), FALSE_CLAIMS)
async def test_a_genuine_token_with_a_false_claim_is_refused(
    deployment: Deployment, changes: Claims, detail: str
) -> None:
    refused = await refusal(deployment, await signed(deployment, **changes))

    assert isinstance(refused, Unauthenticated)
    assert refused.detail == detail


async def test_a_tenants_token_that_names_another_tenant_is_refused(deployment: Deployment) -> None:
    authorization = await signed(deployment, "acme", iss=f"{ISSUER}acme/", tid="umbrella")

    refused = await refusal(deployment, authorization, "umbrella")

    assert refused.detail == "the token's tenant is not its issuer's"


async def test_a_token_that_is_too_long_is_refused(deployment: Deployment) -> None:
    refused = await refusal(deployment, f"Bearer {'x' * 4097}")

    assert refused.detail == "the token is longer than 4096 characters"


async def test_a_token_ends_with_its_lifetime_even_where_it_was_admitted(deployment: Deployment) -> None:
    authorization = await bearer(deployment)
    await call(deployment, authorization)

    deployment.clock.advance(timedelta(seconds=1804))
    await call(deployment, authorization)
    deployment.clock.advance(timedelta(seconds=1))

    assert (await refusal(deployment, authorization)).detail == "the token is expired"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
HEADERS = st.fixed_dictionaries(
    {"alg": st.just("RS256") | JSON, "kid": JSON},
    optional={"typ": JSON, "crit": JSON, "b64": JSON, "jwk": JSON},
)
CLAIMS = st.fixed_dictionaries(
    {"iss": st.just(ISSUER), "sub": st.text(), "aud": st.text() | st.lists(st.text())},
    optional={
        "exp": st.integers(),
        "nbf": st.integers(),
        "typ": st.just("Bearer"),
        "scope": JSON,
        "tid": JSON,
    },
)
SEGMENTS = st.text(alphabet="AaZz09-_=+/.", max_size=20)
JUNK = st.one_of(
    st.text(),
    st.tuples(SEGMENTS, SEGMENTS, SEGMENTS).map(".".join),
    st.builds("{}.{}.{}".format, JSON.map(encoded), JSON.map(encoded), SEGMENTS),
    st.builds("{}.{}.{}".format, HEADERS.map(encoded), CLAIMS.map(encoded), SEGMENTS),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(token=JUNK)
async def test_whatever_is_sent_is_refused_in_the_same_way(deployment: Deployment, token: str) -> None:
    assert isinstance(await refusal(deployment, f"Bearer {token}"), Unauthenticated)
