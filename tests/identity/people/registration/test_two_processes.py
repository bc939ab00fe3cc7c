"""Two processes over one PostgreSQL: an address has one account, and one of its links is valid."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import TYPE_CHECKING, cast

import grpc
import pytest

from gnomon.identity.v1 import registration_service_pb2 as pb
from gnomon.identity.v1.proof_of_work_service_pb2 import IssueChallengeRequest
from gnomon.identity.v1.proof_of_work_service_pb2_grpc import ProofOfWorkServiceStub
from gnomon.identity.v1.registration_service_pb2_grpc import RegistrationServiceStub
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import new_master_key
from identity.delivery.mail.config import EmailConfig
from identity.directory.config import UsersConfig
from identity.directory.user import USERS, User
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import SystemRandomness
from server.platform.call import TenantId
from server.platform.channels import error_of
from server.platform.clock import VirtualClock
from server.platform.errors import NotFound
from server.platform.postgres.pool import open_pool
from server.platform.postgres.pooled import PooledDatabase
from server.platform.records.postgres import PostgresRecordStore
from tests.durable import migrated_database
from tests.identity.deployment import CONFIG, NOON, Deployment, deployed
from tests.identity.mailbox import text_of
from tests.people.proof_of_work import solved
from tests.waits import until

if TYPE_CHECKING:
    from email.message import EmailMessage

EVE = "eve@example.com"
PASSWORD = "correct horse battery staple"
DEFAULT = TenantId("default")

_LINK = re.compile(r"users/(?P<user_id>\w+)/email_confirm/(?P<code>\w+)")


@dataclass(frozen=True)
class Processes:
    both: tuple[Deployment, ...]
    letters: Path

    async def register(self, deployment: Deployment) -> None:
        challenges = ProofOfWorkServiceStub(deployment.channel)
        challenge = (await challenges.IssueChallenge(IssueChallengeRequest())).challenge
        await RegistrationServiceStub(deployment.channel).Register(
            pb.RegisterRequest(email=EVE, password=PASSWORD, pow=solved(challenge))
        )

    async def confirm(
        self, deployment: Deployment, user_id: str, code: str
    ) -> pb.ConfirmationStatus.ValueType:
        """Return the status of a link, UNSPECIFIED for an unknown or replaced one."""
        asked = pb.ConfirmEmailRequest(user_id=user_id, code=code)
        try:
            confirmed = await RegistrationServiceStub(deployment.channel).ConfirmEmail(asked)
        except grpc.RpcError as failure:
            if not isinstance(error_of(failure), NotFound):
                raise
            return pb.CONFIRMATION_STATUS_UNSPECIFIED
        return confirmed.confirmation.status

    async def links(self, number: int) -> list[tuple[str, str]]:
        """Return user id and code of each link, once there are `number` mails."""
        await until(lambda: len(self.texts()) >= number)
        found = [_LINK.search(text) for text in self.texts()]
        return [(link["user_id"], link["code"]) for link in found if link is not None]

    def texts(self) -> list[str]:
        found = [message_from_bytes(path.read_bytes(), policy=default) for path in self.letters.glob("*.eml")]
        return [text_of(cast("EmailMessage", letter)) for letter in found]

    async def people(self) -> list[User]:
        people = await self.both[0].store.of(USERS).page(DEFAULT)
        return [user for user in people if user.is_self_registered]

    async def told_of(self) -> list[EventType]:
        return [event.type for event in await self.both[0].store.of(EVENTS).page(DEFAULT)]


@pytest.fixture
async def processes(postgres_dsn: str, tmp_path: Path) -> AsyncIterator[Processes]:
    dsn = await migrated_database(postgres_dsn, f"registration_{tmp_path.name[-40:]}")
    config = replace(
        CONFIG,
        encryption=EncryptionConfig(keys=(new_master_key(SystemRandomness()),)),
        users=UsersConfig(registration_enabled=True),
        email=EmailConfig(directory=tmp_path, from_address="no-reply@id.example.com", poll_interval_secs=1),
    )
    clock = VirtualClock(pinned=NOON)
    async with AsyncExitStack() as stack:
        started = []
        for _ in range(2):
            pool = await stack.enter_async_context(open_pool(dsn, 3))
            store = PostgresRecordStore(PooledDatabase(pool), clock)
            started.append(await stack.enter_async_context(deployed(config, store)))
        yield Processes(tuple(started), tmp_path)


async def test_an_address_that_two_register_at_once_has_one_account_and_one_link(
    processes: Processes,
) -> None:
    await asyncio.gather(*map(processes.register, processes.both))
    links = await processes.links(2)

    found = [
        [await processes.confirm(each, user_id, code) for each in processes.both] for user_id, code in links
    ]

    assert len(await processes.people()) == 1
    assert sorted(found) == [
        [pb.CONFIRMATION_STATUS_UNSPECIFIED] * 2,
        [pb.CONFIRMATION_STATUS_CONFIRMED] * 2,
    ]


async def test_a_link_that_many_follow_at_once_confirms_once(processes: Processes) -> None:
    await processes.register(processes.both[0])
    [(user_id, code)] = await processes.links(1)

    found = await asyncio.gather(*(processes.confirm(each, user_id, code) for each in processes.both * 4))

    assert set(found) == {pb.CONFIRMATION_STATUS_CONFIRMED}
    assert (await processes.told_of()).count(EventType.USER_CONFIRMED) == 1
