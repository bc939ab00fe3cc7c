"""Administration of the clients of a tenant."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.clients.changes import ClientChange, changed
from identity.clients.new_secrets import NewSecrets
from identity.clients.sectors import Sectors
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.registered_uris import expect_redirect_uris
from identity.directory.client import CLIENTS, Client
from identity.directory.own_clients import OWN_CLIENT_IDS
from identity.directory.secrets import SecretHasher
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.removals import Removals
from identity.foundation.searches import RecordSearch, listed
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Scope
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidState, NotFound
from server.platform.records import AlreadyThere, Changed, Guard, RecordStore, Removal

_SCOPES = (Scope.OPENID, Scope.EMAIL, Scope.PROFILE, Scope.GROUPS)


@dataclass(frozen=True, slots=True)
class NewClient:
    id: str
    name: str
    is_confidential: bool
    redirect_uris: tuple[str, ...]
    post_logout_redirect_uris: tuple[str, ...]


class ClientAdministration:
    """A secret is returned once, when it is generated; the record holds its keyed hash only.

    Each change asks `administrators` first, so an API key cannot change or create a client that administers.
    """

    def __init__(
        self,
        store: RecordStore,
        tenants: Tenants,
        *,
        administrators: Administrators,
        removals: Removals,
        destinations: Destinations,
        sectors: Sectors,
        secrets: SecretHasher,
        version: DirectoryVersion,
        events: Events,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._records = store.of(CLIENTS)
        self._tenants = tenants
        self._secrets = NewSecrets(secrets, randomness)
        self._administrators = administrators
        self._removals = removals
        self._destinations = destinations
        self._sectors = sectors
        self._version = version
        self._events = events
        self._clock = clock
        removals.first(CLIENTS, self._advance)
        removals.succeed(CLIENTS, self._is_known)

    async def page(
        self, tenant: Tenant, wanted: RecordSearch, page_size: int, continuation_token: str
    ) -> tuple[Sequence[Client], str]:
        """Return a page of clients by id, and the continuation token of the next one; raises InvalidArgument."""
        return await listed(
            self._records,
            tenant.tenant_id,
            wanted,
            page_size=page_size,
            continuation_token=continuation_token,
        )

    async def find(self, tenant: Tenant, client_id: str) -> Client:
        """Raises NotFound."""
        client = await self._records.get(tenant.tenant_id, client_id)
        if client is None:
            raise NotFound("there is no such client")
        return client

    async def create(self, tenant: Tenant, new: NewClient, *, actor: Actor) -> tuple[Client, str]:
        """Create a client and return its secret, empty for a public one.

        Raises AlreadyExists, InvalidArgument, PermissionDenied, and InvalidState while an earlier client with the id is
        being removed.
        """
        expect_redirect_uris("redirect_uris", new.redirect_uris)
        expect_redirect_uris("post_logout_redirect_uris", new.post_logout_redirect_uris)
        client = Client(
            tenant_id=tenant.tenant_id,
            id=new.id,
            name=new.name,
            token_endpoint_auth_method=AuthenticationMethod.NONE,
            tenant_ids=(tenant.tenant_id,),
            oauth_scopes=_SCOPES,
            default_scopes=(Scope.OPENID,),
            grant_types=frozenset({GrantType.AUTHORIZATION_CODE}),
            redirect_uris=new.redirect_uris,
            post_logout_redirect_uris=new.post_logout_redirect_uris,
            # Tokens of an earlier client with this id are refused. Tokens name whole seconds.
            not_before=self._clock.now().replace(microsecond=0),
        )
        await self._administrators.guard(None, client, actor)
        await self._expect_no_removal(client)
        client, secret = self._secrets.give(client) if new.is_confidential else (client, "")
        try:
            kept = await self._records.insert(client)
        except AlreadyThere as error:
            raise AlreadyExists("there is a client with this id", field="id") from error
        try:
            await self._expect_no_removal(client)
        except InvalidState:
            with suppress(Changed):
                await self._remove(kept)
            raise
        await self._removals.sweep(tenant.tenant_id, CLIENTS, kept.id)
        await self._tell(EventType.CREATED, kept, actor)
        return kept, secret

    async def change(self, tenant: Tenant, change: ClientChange, *, actor: Actor) -> tuple[Client, str]:
        """Change the whole client; returns a secret if the change made one necessary, else an empty text.

        Raises NotFound, InvalidArgument, InvalidState, PermissionDenied.
        """
        before = await self._of_relying_party(tenant, change.id, actor)
        client, secret = changed(before, change, self._destinations), ""
        await self._administrators.guard(before, client, actor)
        await self._sectors.expect_admitted(before, client)
        if change.lacks_secret(before):
            client, secret = self._secrets.give(client)
        kept = await self._replace(client)
        await self._version.advance(kept.id)
        await self._tell(EventType.CHANGED, kept, actor)
        return kept, secret

    async def rotate_secret(self, tenant: Tenant, client_id: str, *, grace: timedelta, actor: Actor) -> str:
        """Return the new secret; the old one is valid for `grace`. Raises NotFound, InvalidState, PermissionDenied."""
        before = await self._changeable(tenant, client_id, actor)
        if before.secret_hash is None:
            raise InvalidState("the client has no secret")
        client, secret = self._secrets.give(before)
        if grace:
            until = int((self._clock.now() + grace).timestamp())
            client = replace(client, previous_secret_hash=before.secret_hash, previous_secret_until=until)
        await self._tell(EventType.CHANGED, await self._replace(client), actor)
        return secret

    async def delete(self, tenant: Tenant, client_id: str, *, actor: Actor) -> None:
        """Remove the client and its records; raises NotFound, InvalidState, PermissionDenied."""
        client = await self._of_relying_party(tenant, client_id, actor)
        guard = await self._administrators.guard(client, None, actor)
        try:
            await self._remove(client, guard)
        except Changed as error:
            raise InvalidState("another caller changed the client in the meantime") from error
        await self._tell(EventType.DELETED, client, actor)

    async def _remove(self, client: Client, guard: Guard | None = None) -> None:
        """Remove a client together with its records in all tenants that it serves; raises Changed."""
        await self._removals.take(
            CLIENTS,
            client,
            name=client.id,
            further_tenants=sorted(
                {*client.tenant_ids, self._tenants.default.tenant_id} - {client.tenant_id}
            ),
            revision=client.revision,
            guard=guard,
        )

    async def _expect_no_removal(self, new: Client) -> None:
        """Raise InvalidState while an earlier client with this id is being removed that served the tenant."""
        for tenant_id in {new.tenant_id, self._tenants.default.tenant_id}:
            await self._removals.finish(tenant_id, CLIENTS, new.id)

    async def _is_known(self, tenant_id: TenantId, client_id: str) -> bool:
        """Whether the provider of a tenant, which may be disabled, has a client with this id."""
        default = self._tenants.default
        own = await self._records.get(tenant_id, client_id)
        shared = await self._records.get(default.tenant_id, client_id)
        return own is not None or (shared is not None and tenant_id in shared.tenant_ids)

    async def _advance(self, removal: Removal) -> None:
        await self._version.advance(removal.owner_id)

    async def _of_relying_party(self, tenant: Tenant, client_id: str, actor: Actor) -> Client:
        client = await self._changeable(tenant, client_id, actor)
        if client_id in OWN_CLIENT_IDS:
            raise InvalidState("the client belongs to the provider and cannot be changed")
        return client

    async def _changeable(self, tenant: Tenant, client_id: str, actor: Actor) -> Client:
        client = await self.find(tenant, client_id)
        await self._administrators.expect_may_change(client, actor)
        return client

    async def _replace(self, client: Client) -> Client:
        try:
            return await self._records.replace(client)
        except Changed as error:
            raise InvalidState("another caller changed the client in the meantime") from error

    async def _tell(self, event_type: EventType, client: Client, actor: Actor) -> None:
        await self._events.emit(
            client.tenant_id,
            event_type,
            ip=actor.peer_address or None,
            text=f"client {client.id}",
            client_id=client.id,
            actor=actor,
        )
