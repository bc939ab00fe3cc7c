"""A running provider, with all interceptors that calls pass."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from gnomon.identity.v1 import token_service_pb2 as pb
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from identity.access.proof_of_work.config import ProofOfWorkConfig
from identity.app import Identity, open_identity
from identity.config import IdentityConfig
from identity.delivery.http.config import OutgoingConfig
from identity.directory.password_config import PasswordConfig
from identity.foundation.provider_config import ProviderConfig
from identity.foundation.vocabulary import Permission
from identity.seeds import BootstrapConfig, ClientSeed
from server.access.authenticate import Authenticator
from server.access.config import AccessConfig
from server.access.directory_watch import DirectoryWatch
from server.platform.call import Call, Principal, TenantId
from server.platform.channels import LocalChannel
from server.platform.clock import VirtualClock
from server.platform.dispatch import Dispatcher
from server.platform.interceptors import interceptors
from server.platform.peer import LOCAL_EDGE
from server.platform.policy import Mode
from server.platform.records import RecordStore
from server.platform.records.memory import MemoryRecordStore
from tests.identity.remembered_keys import RememberedKeyMaker

ISSUER = "https://id.example.com/auth/v1/"
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
SECRET = "s3cret-of-the-service-client"
WORKER_SECRET = "s3cret-of-the-worker"

WORKER = ClientSeed(
    id="worker", secret=WORKER_SECRET, tenants=("acme",), permissions=("job:work", "history:read")
)

# The two interpretations of this secret differ: RFC 6749 §2.3.1.
AMBIGUOUS_SECRET = "s3cret+with%20signs"
AMBIGUOUS = ClientSeed(id="ambiguous", secret=AMBIGUOUS_SECRET)

OPERATOR = ClientSeed(
    id="operator", secret=SECRET, tenants=("default", "acme", "umbrella"), permissions=tuple(Permission)
)

# Addresses of test servers.
LOOPBACK = OutgoingConfig(allowed_networks=("127.0.0.0/8", "::1/128"))

SYSTEM = Principal("system", frozenset({TenantId("default")}), frozenset({"identity:read"}))

CONFIG = IdentityConfig(
    identity=ProviderConfig(public_url="id.example.com"),
    bootstrap=BootstrapConfig(
        admin_password="s3cret-of-the-administrator",
        client_id="service",
        client_secret=SECRET,
        tenants=("acme", "umbrella"),
        clients=(WORKER, AMBIGUOUS, OPERATOR),
    ),
    passwords=PasswordConfig(memory_kib=64, iterations=1, lanes=1),
    pow=ProofOfWorkConfig(difficulty=10),
)


@dataclass(frozen=True, slots=True)
class Deployment:
    """`channel` has no credentials, `system_channel` those of a service of the deployment."""

    identity: Identity
    store: RecordStore
    clock: VirtualClock
    authenticator: Authenticator
    dispatcher: Dispatcher
    channel: LocalChannel
    inner: Dispatcher

    @property
    def system_channel(self) -> LocalChannel:
        return self.channel_of(SYSTEM)

    def channel_of(self, principal: Principal) -> LocalChannel:
        """Return a channel with this principal."""
        return LocalChannel(self.inner, principal, peer=LOCAL_EDGE)

    async def issue(self, **fields: object) -> pb.IssueTokenResponse:
        """Issue a token for the service client of the default tenant, unless the fields name another."""
        request = {
            "grant_type": "client_credentials",
            "client_id": "service",
            "client_secret": SECRET,
            "client_authentication": pb.CLIENT_AUTHENTICATION_SECRET_BASIC,
        } | fields
        return await TokenServiceStub(self.channel).IssueToken(pb.IssueTokenRequest(**request))


@asynccontextmanager
async def deployed(
    config: IdentityConfig = CONFIG, store: RecordStore | None = None
) -> AsyncIterator[Deployment]:
    """Run a provider with its own records, or with the store of another process."""
    clock = VirtualClock(pinned=NOON)
    store = store or MemoryRecordStore(clock)
    async with (
        open_identity(config, store, clock, making=RememberedKeyMaker(), pause=_pause) as identity,
        asyncio.TaskGroup() as tasks,
    ):
        access = AccessConfig(issuer=identity.issuer)
        deployment = _deployment(identity, store, clock, access)
        watch = DirectoryWatch(deployment.system_channel, access, deployment.authenticator.invalidate)
        watching = tasks.create_task(watch.run())
        try:
            yield deployment
        finally:
            watching.cancel()


async def _pause(seconds: float) -> None:
    """Look for tasks more often than a provider would: their times are those of the virtual clock."""
    await asyncio.sleep(min(seconds, 0.02))


def _deployment(
    identity: Identity, store: RecordStore, clock: VirtualClock, access: AccessConfig
) -> Deployment:
    inner = Dispatcher(identity.servicers, interceptors(Mode.EMBEDDED, _admit_preset))
    authenticator = Authenticator(LocalChannel(inner, SYSTEM), access, clock)
    dispatcher = Dispatcher(identity.servicers, interceptors(Mode.EMBEDDED, authenticator))
    channel = LocalChannel(dispatcher, peer=LOCAL_EDGE)
    return Deployment(identity, store, clock, authenticator, dispatcher, channel, inner)


def _admit_preset(_call: Call) -> None:
    """Admit the call with the principal of its channel."""
