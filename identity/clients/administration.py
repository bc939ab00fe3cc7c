"""Administration of the clients of a tenant."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from identity.access.administrators import Administrators
from identity.access.callers import Actor
from identity.clients.changes import ClientChange, changed
from identity.clients.new_secrets import NewSecrets
from identity.clients.sectors import Sectors
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.registered_uris import expect_redirect_uris
from identity.directory.client import CLIENTS, Client
from identity.directory.own_clients import OWN_CLIENT_IDS
from identity.directory.owned_authorizations import OwnedAuthorizations
from identity.directory.secrets import SecretHasher
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.searches import RecordSearch, listed
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Scope
from server.platform.clock import Clock
from server.platform.errors import AlreadyExists, InvalidState, NotFound
from server.platform.records import AlreadyThere, Changed, RecordStore

_SCOPES = (Scope.OPENID, Scope.EMAIL, Scope.PROFILE, Scope.GROUPS)


class TokenSets(Protocol):
    async def remove_of_client(self, tenant: Tenant, client_id: str) -> None: ...


class Consents(Protocol):
    async def remove_of_client(self, tenant: Tenant, client_id: str) -> None: ...


class Screens(Protocol):
    async def remove_of_client(self, tenant: Tenant, client_id: str) -> None: ...


class SamlApplications(Protocol):
    async def remove_of_client(self, tenant: Tenant, client_id: str) -> None: ...


class ScimApplications(Protocol):
    async def remove_of_client(self, tenant: Tenant, client_id: str) -> None: ...


class Images(Protocol):
    async def remove_of_client(self, tenant: Tenant, client_id: str) -> None: ...


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
        token_sets: TokenSets,
        consents: Consents,
        screens: Screens,
        saml_applications: SamlApplications,
        scim_applications: ScimApplications,
        images: Images,
        administrators: Administrators,
        authorizations: OwnedAuthorizations,
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
        self._token_sets = token_sets
        self._consents = consents
        self._screens = screens
        self._saml_applications = saml_applications
        self._scim_applications = scim_applications
        self._secrets = NewSecrets(secrets, randomness)
        self._images = images
        self._administrators = administrators
        self._authorizations = authorizations
        self._destinations = destinations
        self._sectors = sectors
        self._version = version
        self._events = events
        self._clock = clock

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

        Raises AlreadyExists, InvalidArgument, PermissionDenied.
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
        )
        await self._administrators.expect_may_change(client, actor)
        client, secret = self._secrets.give(client) if new.is_confidential else (client, "")
        try:
            kept = await self._records.insert(client)
        except AlreadyThere as error:
            raise AlreadyExists("there is a client with this id", field="id") from error
        # An interrupted removal of an earlier client with this id leaves screens, SAML and SCIM settings behind.
        await self._screens.remove_of_client(tenant, kept.id)
        await self._saml_applications.remove_of_client(tenant, kept.id)
        await self._scim_applications.remove_of_client(tenant, kept.id)
        await self._tell(EventType.CREATED, kept, actor)
        return kept, secret

    async def change(self, tenant: Tenant, change: ClientChange, *, actor: Actor) -> tuple[Client, str]:
        """Change the whole client; returns a secret if the change made one necessary, else an empty text.

        Raises NotFound, InvalidArgument, InvalidState, PermissionDenied.
        """
        before = await self._of_relying_party(tenant, change.id, actor)
        client, secret = changed(before, change, self._destinations), ""
        await self._administrators.expect_may_change(client, actor)
        self._administrators.expect_may_give(change.given(before), actor)
        await self._sectors.expect_admitted(before, client)
        if change.lacks_secret(before):
            client, secret = self._secrets.give(client)
        kept = await self._replace(client)
        await self._version.advance()
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
        await self._records.take(tenant.tenant_id, client_id)
        await self._authorizations.remove_of(client)
        await self._screens.remove_of_client(tenant, client_id)
        await self._saml_applications.remove_of_client(tenant, client_id)
        await self._scim_applications.remove_of_client(tenant, client_id)
        await self._version.advance()
        await self._images.remove_of_client(tenant, client_id)
        for served in self._tenants.all():
            if not client.is_known_at(served, default=self._tenants.default):
                continue
            # A client of another tenant with the same id keeps its records.
            if served == tenant or await self._records.get(served.tenant_id, client_id) is None:
                await self._token_sets.remove_of_client(served, client_id)
                await self._consents.remove_of_client(served, client_id)
        await self._tell(EventType.DELETED, client, actor)

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
