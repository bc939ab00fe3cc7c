"""Permission changes in one process apply in another over one PostgreSQL; a fixed clock disables cache expiry."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import grpc
import pytest

from gnomon.directory.v1 import user_service_pb2
from gnomon.directory.v1.user_service_pb2_grpc import UserServiceStub
from gnomon.identity.v1 import mapping_rule_service_pb2 as pb
from gnomon.identity.v1.mapping_rule_service_pb2_grpc import MappingRuleServiceStub
from gnomon.identity.v1.membership_service_pb2 import AssignRoleToClientRequest, UnassignRoleFromClientRequest
from gnomon.identity.v1.membership_service_pb2_grpc import MembershipServiceStub
from gnomon.identity.v1.token_service_pb2 import (
    CLIENT_AUTHENTICATION_SECRET_BASIC,
    ClientProof,
    RevokeTokenRequest,
)
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import new_master_key
from identity.directory.labels import ROLES, Role
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.directory.tenants.tenant_record import DEPLOYMENT, TENANTS
from identity.directory.user import USERS
from identity.directory.version import PASS_SECONDS, DirectoryVersion
from identity.foundation.randomness import SystemRandomness
from identity.foundation.tenants import Tenants
from identity.foundation.vocabulary import Permission
from server.platform.call import TenantId
from server.platform.channels import error_of
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidState, PermissionDenied, Unauthenticated
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.browsers import alice
from tests.identity.deployment import CONFIG, NOON, SECRET, WORKER, WORKER_SECRET, Deployment, deployed
from tests.waits import until_so

PASSES = 100
ROUNDS = 10
# Of databases.
NUMBERS = count()
# May request a permission that it has only through a role.
READER = replace(
    WORKER,
    id="reader",
    tenants=(),
    permissions=(),
    redirect_uris=("https://app.example.com/",),
    scopes=("identity:read",),
)


@dataclass(frozen=True)
class Processes:
    one: Deployment
    other: Deployment
    administrator: tuple[tuple[str, str], ...]
    reader: tuple[tuple[str, str], ...]

    async def may_read(self, deployment: Deployment) -> bool:
        rules = MappingRuleServiceStub(deployment.channel)
        try:
            await rules.SearchMappingRules(pb.SearchMappingRulesRequest(), metadata=self.reader)
        except grpc.RpcError as failure:
            if isinstance(error_of(failure), PermissionDenied):
                return False
            raise
        return True

    async def other_says(self, *, may_read: bool) -> None:
        """Return when the other process has this result."""
        for _ in range(PASSES):
            if await self.may_read(self.other) is may_read:
                return
            # A cached result does not yield to other tasks.
            await asyncio.sleep(PASS_SECONDS)
        raise AssertionError("the other process hears of nothing")


@pytest.fixture
async def processes(postgres_dsn: str) -> AsyncIterator[Processes]:
    dsn = await migrated_database(postgres_dsn, f"directory_processes_{next(NUMBERS)}")
    master_key = EncryptionConfig(keys=(new_master_key(SystemRandomness()),))
    clients = (*CONFIG.bootstrap.clients, READER)
    config = replace(CONFIG, encryption=master_key, bootstrap=replace(CONFIG.bootstrap, clients=clients))
    clock = VirtualClock(pinned=NOON)
    async with AsyncExitStack() as stack:
        started = []
        for _ in range(2):
            pool = await stack.enter_async_context(open_pool(dsn, 2))
            store = PostgresRecordStore(PooledDatabase(pool), clock)
            started.append(await stack.enter_async_context(deployed(config, store)))
        one, other = started
        reader = await one.issue(client_id="reader", client_secret=WORKER_SECRET, scope="identity:read")
        yield Processes(one, other, bearer((await one.issue()).access_token), bearer(reader.access_token))


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


async def test_what_one_process_gives_and_takes_the_other_checks(processes: Processes) -> None:
    default = TenantId("default")
    role = Role(tenant_id=default, id="1", name="reading", permissions=(Permission.IDENTITY_READ,))
    await processes.one.store.of(ROLES).insert(role)
    memberships = MembershipServiceStub(processes.one.channel)
    assert not await processes.may_read(processes.one)
    assert not await processes.may_read(processes.other)

    await memberships.AssignRoleToClient(
        AssignRoleToClientRequest(role_id="reading", client_id="reader"), metadata=processes.administrator
    )
    assert await processes.may_read(processes.one)
    await processes.other_says(may_read=True)

    await memberships.UnassignRoleFromClient(
        UnassignRoleFromClientRequest(role_id="reading", client_id="reader"), metadata=processes.administrator
    )
    assert not await processes.may_read(processes.one)
    await processes.other_says(may_read=False)


async def test_two_callers_at_once_leave_one_of_two_administrators(processes: Processes) -> None:
    users, default = processes.one.store.of(USERS), TenantId("default")
    for user in await users.page(default):
        await users.take(default, user.id)
    stubs = [UserServiceStub(process.channel) for process in (processes.one, processes.other)]

    for turn in range(ROUNDS):
        names = [f"anna{turn}", f"bert{turn}"]
        for name in names:
            await users.insert(
                alice(id=name, email=f"{name}@example.com", preferred_username=name, roles=("admin",))
            )
        outcomes = await asyncio.gather(
            *(
                stub.DeleteUser(
                    user_service_pb2.DeleteUserRequest(username=name), metadata=processes.administrator
                )
                for stub, name in zip(stubs, names, strict=True)
            ),
            return_exceptions=True,
        )
        refusals = [error_of(each) for each in outcomes if isinstance(each, grpc.RpcError)]
        (left,) = await users.page(default)

        assert [type(refusal) for refusal in refusals] == [InvalidState]
        assert left.is_enabled
        await users.take(default, left.id)


async def test_a_process_that_changes_something_itself_misses_no_change_of_another(
    processes: Processes,
) -> None:
    one, other = processes.one, processes.other
    issued = await one.issue(client_id="operator", client_secret=SECRET, tenant_id="acme")
    token = bearer(issued.access_token)
    rules, memberships = MappingRuleServiceStub(one.channel), MembershipServiceStub(one.channel)
    await rules.SearchMappingRules(pb.SearchMappingRulesRequest(), metadata=token)

    # As another process does, in less time than passes between two looks at the version.
    tenants = other.store.of(TENANTS)
    acme = await tenants.get(DEPLOYMENT, "acme")
    assert acme is not None
    await tenants.replace(replace(acme, is_enabled=False))
    await TenantDirectory(
        Tenants("https://id.example.com", TenantId("default")), other.store, other.clock
    ).heed(acme.own_id)
    await DirectoryVersion(other.store).advance()
    await memberships.AssignRoleToClient(
        AssignRoleToClientRequest(role_id="admin", client_id="reader"), metadata=processes.administrator
    )

    with pytest.raises(grpc.RpcError) as failure:
        await rules.SearchMappingRules(pb.SearchMappingRulesRequest(), metadata=token)
    assert isinstance(error_of(failure.value), Unauthenticated)


async def test_a_revoked_token_is_refused_by_another_process(processes: Processes) -> None:
    one, other = processes.one, processes.other
    text = processes.reader[0][1].removeprefix("Bearer ")
    assert not await processes.may_read(other)

    client = ClientProof(
        client_id="reader",
        client_secret=WORKER_SECRET,
        method=CLIENT_AUTHENTICATION_SECRET_BASIC,
    )
    await TokenServiceStub(one.channel).RevokeToken(RevokeTokenRequest(token=text, client=client))

    async def is_refused(deployment: Deployment) -> bool:
        try:
            await processes.may_read(deployment)
        except grpc.RpcError as failure:
            return error_of(failure).detail == "the token was revoked"
        return False

    assert await is_refused(one)
    await until_so(partial(is_refused, other))
