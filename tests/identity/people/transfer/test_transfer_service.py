"""Rights to import and export users, and the contents of an export."""

from dataclasses import replace

import pytest

from gnomon.identity.v1 import user_transfer_service_pb2 as pb
from gnomon.identity.v1.caller_pb2 import Caller
from gnomon.identity.v1.user_transfer_service_pb2_grpc import UserTransferServiceStub
from identity.directory.client import CLIENTS
from identity.foundation.events.event import EVENTS
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.channels.failure import CallError
from tests.identity.deployment import SECRET, WORKER_SECRET, Deployment
from tests.identity.directory.password_hashes.hashes import MADE

ADA = pb.TransferredUser(email="ada@example.com", given_name="Ada", password_hash=MADE["bcrypt 2b"]())


async def caller(deployment: Deployment, client_id: str = "service", secret: str = SECRET) -> Caller:
    issued = await deployment.issue(client_id=client_id, client_secret=secret)
    return Caller(access_token=issued.access_token)


async def imported(
    deployment: Deployment, *users: pb.TransferredUser, by: Caller | None = None, tenant_id: str = ""
) -> list[pb.ImportOutcome.ValueType]:
    asked = pb.ImportUsersRequest(
        tenant_id=tenant_id, caller=by or await caller(deployment), users=users, creates_labels=True
    )
    answer = await UserTransferServiceStub(deployment.channel).ImportUsers(asked)
    return [result.outcome for result in answer.results]


async def exported(
    deployment: Deployment, by: Caller, *, tenant_id: str = "", with_password_hashes: bool = False
) -> list[pb.TransferredUser]:
    users: list[pb.TransferredUser] = []
    asked = pb.ExportUsersRequest(
        tenant_id=tenant_id, caller=by, with_password_hashes=with_password_hashes, page_size=1
    )
    while True:
        answer = await UserTransferServiceStub(deployment.channel).ExportUsers(asked)
        users.extend(answer.users)
        if not answer.continuation_token:
            return users
        asked.continuation_token = answer.continuation_token


async def texts(deployment: Deployment, tenant_id: str = "default") -> list[str | None]:
    return [event.text for event in await deployment.store.of(EVENTS).page(TenantId(tenant_id))]


async def test_an_import_needs_the_right_to_make_users(deployment: Deployment) -> None:
    worker = await caller(deployment, "worker", WORKER_SECRET)

    with pytest.raises(CallError, match="the caller may not do this"):
        await imported(deployment, ADA, by=worker, tenant_id="acme")
    with pytest.raises(CallError, match="the API key is unknown"):
        await imported(deployment, ADA, by=Caller(api_key="robot$unknown"))


async def test_an_account_belongs_to_the_tenant_of_the_import(deployment: Deployment) -> None:
    operator = await caller(deployment, "operator")

    assert await imported(deployment, ADA, by=operator, tenant_id="acme") == [pb.IMPORT_OUTCOME_CREATED]

    assert [user.email for user in await exported(deployment, operator, tenant_id="acme")] == [ADA.email]
    assert await exported(deployment, operator, tenant_id="umbrella") == []


async def test_a_call_is_bounded(deployment: Deployment) -> None:
    with pytest.raises(CallError, match="no more than 500"):
        await imported(deployment, *[ADA] * 501)


async def test_an_export_goes_back_in_as_it_is(deployment: Deployment) -> None:
    user = pb.TransferredUser(
        email="ada@example.com",
        given_name="Ada",
        family_name="Lovelace",
        language="de",
        enabled=False,
        email_verified=True,
        password_hash=MADE["scrypt"](),
        password_expired=True,
        groups=["staff"],
        roles=["clerk"],
        attributes='{"department":"sales"}',
        created_at=1577836800,
    )
    user.user_values.preferred_username = "ada"
    user.user_values.city = "London"
    await imported(deployment, user)

    found = await exported(deployment, await caller(deployment), with_password_hashes=True)

    assert [each for each in found if each.email == user.email] == [user]
    assert await imported(deployment, *found[:1]) == [pb.IMPORT_OUTCOME_UNCHANGED]


async def test_password_hashes_leave_on_demand_only_and_with_an_event(deployment: Deployment) -> None:
    await imported(deployment, ADA)
    service = await caller(deployment)

    assert {user.password_hash for user in await exported(deployment, service)} == {""}
    assert "export of users with password hashes" not in await texts(deployment)

    hashes = {user.password_hash for user in await exported(deployment, service, with_password_hashes=True)}

    assert ADA.password_hash in hashes
    assert "export of users with password hashes" in await texts(deployment)


async def test_password_hashes_are_for_administrators_of_the_deployment(deployment: Deployment) -> None:
    tenant_admin = await administrator_of_acme(deployment)
    await imported(deployment, ADA, by=tenant_admin, tenant_id="acme")

    assert len(await exported(deployment, tenant_admin, tenant_id="acme")) == 1
    with pytest.raises(CallError, match="the caller may not do this"):
        await exported(deployment, tenant_admin, tenant_id="acme", with_password_hashes=True)


async def administrator_of_acme(deployment: Deployment) -> Caller:
    """Return a client that may do everything in one tenant."""
    clients = deployment.store.of(CLIENTS)
    worker = await clients.get(TenantId("default"), "worker")
    assert worker is not None
    permissions = (Permission.IDENTITY_READ, Permission.IDENTITY_WRITE)
    await clients.replace(
        replace(worker, permissions=permissions, oauth_scopes=permissions, default_scopes=permissions)
    )
    return await caller(deployment, "worker", WORKER_SECRET)


async def test_no_secret_of_an_import_is_logged(
    deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        await imported(
            deployment, ADA, pb.TransferredUser(email="b@example.com", password_hash="$2b$99$secret")
        )

    assert ADA.password_hash not in caplog.text
    assert "$2b$99$secret" not in caplog.text
