"""Two processes over one PostgreSQL: a link is used once, and is bound to one browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import pytest

from gnomon.identity.v1 import password_reset_service_pb2 as pb
from gnomon.identity.v1.password_reset_service_pb2_grpc import PasswordResetServiceStub
from gnomon.identity.v1.user_pb2 import UserFields
from gnomon.identity.v1.user_service_pb2 import CreateUserRequest
from gnomon.identity.v1.user_service_pb2_grpc import UserServiceStub
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import new_master_key
from identity.delivery.mail.config import EmailConfig
from identity.foundation.randomness import SystemRandomness
from server.platform.channels import error_of
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidArgument, PermissionDenied
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.edge.oidc.people.letters import Letters
from tests.identity.deployment import CONFIG, NOON, Deployment, deployed

Answer = pb.OpenResetLinkResponse | pb.ResetPasswordResponse | grpc.RpcError


@dataclass(frozen=True)
class Processes:
    both: tuple[Deployment, Deployment]
    letters: Letters

    async def link(self) -> pb.ShownLink:
        """Create an account at one process, and return its link."""
        one = self.both[0]
        caller = {"access_token": (await one.issue()).access_token}
        asked = CreateUserRequest(caller=caller, fields=UserFields(email="bob@example.com"))
        made = (await UserServiceStub(one.channel).CreateUser(asked)).user
        path = await self.letters.path("Your new account", to="bob@example.com")
        return pb.ShownLink(user_id=made.id, code=path.rpartition("/")[2])

    async def open(self, link: pb.ShownLink, process: Deployment) -> Answer:
        try:
            return await PasswordResetServiceStub(process.channel).OpenResetLink(
                pb.OpenResetLinkRequest(link=link)
            )
        except grpc.RpcError as failure:
            return failure

    async def set_password(self, link: pb.ShownLink, password: str, process: Deployment) -> Answer:
        asked = pb.ResetPasswordRequest(link=link, password=password)
        try:
            return await PasswordResetServiceStub(process.channel).ResetPassword(asked)
        except grpc.RpcError as failure:
            return failure


@pytest.fixture
async def processes(postgres_dsn: str, tmp_path: Path) -> AsyncIterator[Processes]:
    dsn = await migrated_database(postgres_dsn, "reset_processes")
    config = replace(
        CONFIG,
        encryption=EncryptionConfig(keys=(new_master_key(SystemRandomness()),)),
        email=EmailConfig(directory=tmp_path, from_address="id@example.com", poll_interval_secs=1),
    )
    clock = VirtualClock(pinned=NOON)
    async with AsyncExitStack() as stack:
        started = []
        for _ in range(2):
            pool = await stack.enter_async_context(open_pool(dsn, 2))
            store = PostgresRecordStore(PooledDatabase(pool), clock)
            started.append(await stack.enter_async_context(deployed(config, store)))
        one, other = started
        yield Processes((one, other), Letters(tmp_path))


async def test_a_link_is_opened_and_used_once(processes: Processes) -> None:
    link = await processes.link()

    opened = await asyncio.gather(*(processes.open(link, process) for process in processes.both * 3))
    (good,) = [each for each in opened if isinstance(each, pb.OpenResetLinkResponse)]
    held = pb.ShownLink(user_id=link.user_id, code=link.code, cookie=good.cookie, csrf_token=good.csrf_token)
    used = await asyncio.gather(
        *(
            processes.set_password(held, f"a new and quite long one {number}", process)
            for number, process in enumerate(processes.both * 3)
        )
    )

    refused = [error_of(each) for each in (*opened, *used) if isinstance(each, grpc.RpcError)]
    assert [isinstance(each, PermissionDenied) for each in refused[:5]] == [True] * 5
    assert [isinstance(each, InvalidArgument) for each in refused[5:]] == [True] * 5
    assert sum(isinstance(each, pb.ResetPasswordResponse) for each in used) == 1
