"""Dynamic registration of clients, and reading, changing and removing a registration: RFC 7591 §3, RFC 7592 §2.

An unknown client and a wrong token give the same error. A change issues a new registration access token and a new
secret; the previous ones become invalid.
"""

import hmac
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Protocol

from identity.access.callers import Actor, ActorKind
from identity.clients.dynamic.config import DynamicClientsConfig
from identity.clients.dynamic.metadata import ClientMetadata, described
from identity.clients.new_secrets import NewSecrets
from identity.clients.sectors import Sectors
from identity.delivery.http.destinations import Destinations
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.client import CLIENTS, Client, Registration
from identity.directory.secrets import SecretHasher
from identity.directory.version import DirectoryVersion
from identity.foundation.errors import InvalidClientMetadata, InvalidToken
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.record_changes import rewritten
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import SECRET_METHODS, AuthenticationMethod, ConsentMode
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, NotFound, ResourceExhausted
from server.platform.records import RecordStore

UNUSED_FOR = timedelta(minutes=60)
PAUSE = timedelta(seconds=60)

_ID_PREFIX = "dyn-"
_ID_LENGTH = 24
_TOKEN_LENGTH = 64


class Removal(Protocol):
    async def delete(self, tenant: Tenant, client_id: str, *, actor: Actor) -> None: ...


class Addresses(Protocol):
    def group(self, peer_address: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """`client_secret` and `registration_access_token` are empty unless they are new."""

    client: Client
    registration_client_uri: str
    client_secret: str = field(default="", repr=False)
    registration_access_token: str = field(default="", repr=False)


class DynamicRegistration:
    """`addresses` groups network addresses that share a rate limit."""

    def __init__(
        self,
        store: RecordStore,
        *,
        config: DynamicClientsConfig,
        removal: Removal,
        addresses: Addresses,
        hasher: SecretHasher,
        version: DirectoryVersion,
        events: Events,
        clock: Clock,
        randomness: Randomness,
        destinations: Destinations,
        sectors: Sectors,
    ) -> None:
        self._records = store.of(CLIENTS)
        self._single_use = SingleUse(store)
        self._details = DetailTypes(store)
        self._config = config
        self._removal = removal
        self._addresses = addresses
        self._hasher = hasher
        self._secrets = NewSecrets(hasher, randomness)
        self._version = version
        self._events = events
        self._clock = clock
        self._randomness = randomness
        self._destinations = destinations
        self._sectors = sectors

    async def register(
        self, tenant: Tenant, metadata: ClientMetadata, *, token: str, peer_address: str
    ) -> Registered:
        """Raises InvalidToken, InvalidClientMetadata, InvalidRedirectUri, ResourceExhausted; NotFound when it is off."""
        self._expect_enabled()
        self._expect_initial(token)
        now = self._clock.now()
        new = Client(
            tenant_id=tenant.tenant_id,
            id=f"{_ID_PREFIX}{self._randomness.alphanumeric(_ID_LENGTH)}",
            expires_at=now + UNUSED_FOR,
            token_endpoint_auth_method=AuthenticationMethod.NONE,
            tenant_ids=(tenant.tenant_id,),
            requires_pkce=False,
            # No administrator has reviewed the client, so its users are asked for consent.
            consent=ConsentMode.ONCE,
            registration=Registration(token_hash=b"", issued_at=int(now.timestamp())),
        )
        metadata = await self._of_known_types(tenant, new, metadata)
        registered = self._registered(tenant, new, metadata)
        # Before the sector's document is read, so that nobody can make the provider send requests at will.
        await self._note(tenant, peer_address)
        await self._expect_admitted(new, registered.client)
        kept = await self._records.insert(registered.client)
        await self._tell(EventType.CREATED, kept, peer_address)
        return replace(registered, client=kept)

    async def read(self, tenant: Tenant, client_id: str, *, token: str) -> Registered:
        """Raises InvalidToken; NotFound when it is off."""
        client = await self._of_holder(tenant, client_id, token)
        return Registered(client=client, registration_client_uri=_uri(tenant, client))

    async def change(
        self,
        tenant: Tenant,
        client_id: str,
        metadata: ClientMetadata,
        *,
        token: str,
        client_secret: str = "",
        peer_address: str,
    ) -> Registered:
        """Replace all metadata; `client_secret` is the present secret if the request repeats it.

        A change that makes the provider read a document of the sector counts as a registration of the network address.
        Raises InvalidToken, InvalidClientMetadata, InvalidRedirectUri, ResourceExhausted; NotFound when registration is
        disabled.
        """
        before = await self._of_holder(tenant, client_id, token)
        self._expect_same_secret(before, client_secret)
        metadata = await self._of_known_types(tenant, before, metadata)
        after = described(before, metadata, self._destinations)
        if self._sectors.are_asked(before, after):
            await self._note(tenant, peer_address)
            await self._expect_admitted(before, after)
        made: list[Registered] = []

        def changed(client: Client) -> Client:
            self._expect_same_secret(client, client_secret)
            made.append(self._registered(tenant, client, metadata))
            return made[-1].client

        kept = await rewritten(self._records, lambda: self._of_holder(tenant, client_id, token), changed)
        await self._version.advance(kept.id)
        await self._tell(EventType.CHANGED, kept, peer_address)
        return replace(made[-1], client=kept)

    async def remove(self, tenant: Tenant, client_id: str, *, token: str, peer_address: str) -> None:
        """Raises InvalidToken; NotFound when it is off."""
        client = await self._of_holder(tenant, client_id, token)
        try:
            await self._removal.delete(tenant, client_id, actor=_actor(client, peer_address))
        except NotFound as error:
            raise _not_theirs() from error

    async def _of_known_types(
        self, tenant: Tenant, client: Client, metadata: ClientMetadata
    ) -> ClientMetadata:
        """Leave out types of authorization details that the client may not have; without any, it keeps its own."""
        asked, own = metadata.authorization_details_types, client.authorization_details_types
        known = {*own, *await self._details.registrable(tenant, asked)}
        types = tuple(name for name in dict.fromkeys(asked) if name in known)
        return replace(metadata, authorization_details_types=types or own)

    async def _expect_admitted(self, before: Client, client: Client) -> None:
        try:
            await self._sectors.expect_admitted(before, client)
        except InvalidArgument as error:
            raise InvalidClientMetadata(error.detail) from error

    def _registered(self, tenant: Tenant, client: Client, metadata: ClientMetadata) -> Registered:
        after = described(client, metadata, self._destinations)
        secret, token = "", self._randomness.alphanumeric(_TOKEN_LENGTH)
        if after.token_endpoint_auth_method in SECRET_METHODS:
            after, secret = self._secrets.give(after)
        registration = Registration(
            token_hash=self._hasher.hash(token),
            issued_at=client.registration.issued_at if client.registration else 0,
            application_type=metadata.application_type or "web",
        )
        return Registered(
            client=replace(after, registration=registration),
            registration_client_uri=_uri(tenant, after),
            client_secret=secret,
            registration_access_token=token,
        )

    async def _of_holder(self, tenant: Tenant, client_id: str, token: str) -> Client:
        self._expect_enabled()
        client = await self._records.get(tenant.tenant_id, client_id)
        registration = client.registration if client is not None else None
        # An unknown client takes as long as a known one.
        expected = registration.token_hash if registration is not None else self._hasher.hash("")
        is_right = hmac.compare_digest(self._hasher.hash(token), expected)
        if client is None or registration is None or not token or not is_right:
            raise _not_theirs()
        return client

    def _expect_enabled(self) -> None:
        if not self._config.enabled:
            raise NotFound("dynamic client registration is disabled")

    def _expect_initial(self, token: str) -> None:
        expected = self._config.reg_token
        if expected and not hmac.compare_digest(self._hasher.hash(token), self._hasher.hash(expected)):
            raise InvalidToken("the initial access token is wrong")

    def _expect_same_secret(self, client: Client, client_secret: str) -> None:
        """RFC 7592 §2.2: a client cannot choose its secret."""
        kept = client.secret_hash or b""
        if client_secret and not hmac.compare_digest(self._hasher.hash(client_secret), kept):
            raise InvalidClientMetadata("client_secret: expected the current one")

    async def _note(self, tenant: Tenant, peer_address: str) -> None:
        group, until = self._addresses.group(peer_address), self._clock.now() + PAUSE
        if not await self._single_use.spend(tenant, "client registration", group, until=until):
            raise ResourceExhausted(
                "too many requests; try again later", retry_after_secs=str(int(PAUSE.total_seconds()))
            )

    async def _tell(self, event_type: EventType, client: Client, peer_address: str) -> None:
        await self._events.emit(
            client.tenant_id,
            event_type,
            ip=peer_address or None,
            text=f"client {client.id}",
            client_id=client.id,
            actor=_actor(client, peer_address),
        )


def _uri(tenant: Tenant, client: Client) -> str:
    """Return the address of a registration: RFC 7592 §3."""
    return f"{tenant.issuer}clients_dyn/{client.id}"


def _actor(client: Client, peer_address: str) -> Actor:
    return Actor(ActorKind.CLIENT, client.id, client.name, peer_address=peer_address)


def _not_theirs() -> InvalidToken:
    return InvalidToken("the client or its registration access token is unknown")
