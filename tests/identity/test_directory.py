import json
from base64 import urlsafe_b64decode
from datetime import timedelta

import grpc
import pytest

from gnomon.identity.v1 import directory_service_pb2 as pb
from gnomon.identity.v1.directory_service_pb2_grpc import DirectoryServiceStub
from identity.access.tokens.revoked import RevokedTokens
from identity.directory.passwords import Passwords
from identity.directory.user import USERS
from identity.directory.version import DirectoryVersion
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import Permission
from server.platform.call import Principal, TenantId
from server.platform.channels import error_of
from server.platform.errors import NotFound, Unauthenticated
from server.platform.policy import policies_of, services
from tests.identity.deployment import CONFIG, NOON, WORKER_SECRET, Deployment

READER = frozenset({"identity:read"})
DEFAULT = Tenants("https://id.example.com", TenantId("default"), ()).default


async def test_the_service_client_may_do_everything_in_the_default_tenant(deployment: Deployment) -> None:
    directory = DirectoryServiceStub(deployment.system_channel)

    found = await directory.GetPrincipal(pb.GetPrincipalRequest(subject="service"))

    assert found.principal.kind == pb.PRINCIPAL_KIND_CLIENT
    assert list(found.principal.tenant_ids) == ["default"]
    assert set(Permission) == set(found.principal.permissions)


async def test_a_seeded_client_may_do_what_it_was_given(deployment: Deployment) -> None:
    directory = DirectoryServiceStub(deployment.system_channel)

    found = await directory.GetPrincipal(pb.GetPrincipalRequest(subject="worker"))

    assert list(found.principal.tenant_ids) == ["acme"]
    assert list(found.principal.permissions) == ["job:work", "history:read"]


async def test_an_unknown_subject_is_not_found(deployment: Deployment) -> None:
    with pytest.raises(grpc.RpcError) as failure:
        await DirectoryServiceStub(deployment.system_channel).GetPrincipal(
            pb.GetPrincipalRequest(subject="nobody")
        )

    assert isinstance(error_of(failure.value), NotFound)


async def test_whoever_acts_in_one_tenant_learns_nothing_of_another(deployment: Deployment) -> None:
    channel = deployment.channel_of(Principal("reader", frozenset({TenantId("acme")}), READER))
    issuer = deployment.identity.issuer
    directory = DirectoryServiceStub(channel)

    with pytest.raises(grpc.RpcError) as failure:
        await directory.GetPrincipal(pb.GetPrincipalRequest(subject="service", issuer=issuer))
    found = await directory.GetPrincipal(pb.GetPrincipalRequest(subject="worker", issuer=f"{issuer}acme/"))

    assert isinstance(error_of(failure.value), NotFound)
    assert found.principal.subject == "worker"


async def test_a_stranger_may_not_ask(deployment: Deployment) -> None:
    with pytest.raises(grpc.RpcError) as failure:
        await DirectoryServiceStub(deployment.channel).GetPrincipal(pb.GetPrincipalRequest(subject="service"))

    assert isinstance(error_of(failure.value), Unauthenticated)


async def presented(deployment: Deployment) -> pb.GetPrincipalRequest:
    """The question of a service that has verified the signature of a token."""
    token = (await deployment.issue(client_id="worker", client_secret=WORKER_SECRET)).access_token
    payload = token.split(".")[1]
    claims = urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    return pb.GetPrincipalRequest(subject="worker", issuer=deployment.identity.issuer, claims=claims)


async def test_the_principal_of_a_token_depends_on_its_client_and_on_the_token(
    deployment: Deployment,
) -> None:
    request = await presented(deployment)

    found = await DirectoryServiceStub(deployment.system_channel).GetPrincipal(request)

    assert set(found.principal.depends_on) == {"worker", json.loads(request.claims)["jti"]}


async def test_a_token_that_was_revoked_has_no_principal(deployment: Deployment) -> None:
    request = await presented(deployment)
    jti, version = json.loads(request.claims)["jti"], DirectoryVersion(deployment.store)

    await RevokedTokens(deployment.store, version).add(DEFAULT, jti, until=NOON + timedelta(hours=1))

    with pytest.raises(grpc.RpcError) as failure:
        await DirectoryServiceStub(deployment.system_channel).GetPrincipal(request)
    assert isinstance(error_of(failure.value), Unauthenticated)
    assert error_of(failure.value).detail == "the token was revoked"


async def test_the_claims_of_a_token_speak_for_no_other_subject(deployment: Deployment) -> None:
    request = await presented(deployment)
    request.subject = "service"

    with pytest.raises(grpc.RpcError) as failure:
        await DirectoryServiceStub(deployment.system_channel).GetPrincipal(request)

    assert isinstance(error_of(failure.value), NotFound)


async def test_claims_that_are_of_no_access_token_have_no_principal(deployment: Deployment) -> None:
    request = pb.GetPrincipalRequest(subject="worker", claims=b'{"sub":"worker","branch":"oxford"}')

    with pytest.raises(grpc.RpcError) as failure:
        await DirectoryServiceStub(deployment.system_channel).GetPrincipal(request)

    assert error_of(failure.value).detail == "the token is not an access token"


async def test_the_administrator_is_a_person_who_may_do_everything_everywhere(deployment: Deployment) -> None:
    (administrator,) = await deployment.store.of(USERS).find(
        TenantId("default"), "email", CONFIG.bootstrap.admin_email
    )

    answer = await DirectoryServiceStub(deployment.system_channel).GetPrincipal(
        pb.GetPrincipalRequest(subject=administrator.id)
    )

    principal = answer.principal
    assert principal.kind == pb.PRINCIPAL_KIND_USER
    assert list(principal.tenant_ids) == ["acme", "default", "umbrella"]
    assert list(principal.permissions) == list(Permission)


def test_every_permission_of_the_contract_can_be_given() -> None:
    demanded = {policy.permission for service in services() for policy in policies_of(service).values()}

    assert demanded - {""} <= set(Permission)


@pytest.mark.parametrize(
    ("is_known", "password", "is_right"),
    [(True, "right", True), (True, "wrong", False), (False, "right", False)],
)
async def test_a_password_is_verified(*, is_known: bool, password: str, is_right: bool) -> None:
    passwords = Passwords(CONFIG.passwords)
    password_hash = await passwords.hash("default", "right") if is_known else None

    verified = await passwords.verify("default", password_hash, password)

    assert is_right is verified
    passwords.close()
