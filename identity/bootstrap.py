"""Creates the tenants, the administrator, and the clients and users of the configuration at start.

Seeds are validated before the provider serves calls. Each start replaces a stored client by its configuration, except
for roles, groups and logo. A configured user is created once and not changed afterwards.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from identity.access.tokens.config import TokenConfig
from identity.config import IdentityConfig
from identity.directory.client import CLIENTS, Client, ClientId
from identity.directory.own_clients import own_clients
from identity.directory.passwords import Passwords
from identity.directory.secrets import SecretHasher
from identity.directory.user import USERS, AccountType, User
from identity.foundation.mail_address import email_key
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenants, tenant_id_of
from identity.foundation.vocabulary import AuthenticationMethod, GrantType, Permission
from identity.seeds import BootstrapConfig, ClientSeed, UserSeed
from server.platform.call import TenantId
from server.platform.clock import Clock
from server.platform.records import AlreadyThere, Changed, RecordStore

CLIENTS_AT_ONCE = 8
_USER_ID_LENGTH = 24
_VALUES = ("birthdate", "zoneinfo", "phone_number", "street_address", "postal_code", "locality", "country")


def bootstrap_tenants(config: IdentityConfig) -> Tenants:
    """Return all tenants; raises ValueError for a forbidden name."""
    default = tenant_id_of(config.bootstrap.tenant)
    return Tenants(config.identity.origin, default, map(tenant_id_of, config.bootstrap.tenants))


def bootstrap_clients(config: IdentityConfig, tenants: Tenants, secrets: SecretHasher) -> Sequence[Client]:
    """Return all clients; raises ValueError for a seed that names something unknown, or for a repeated id."""
    clients: dict[ClientId, Client] = {}
    for seed in _seeds(config.bootstrap):
        client = _client(seed, tenants, secrets, config.token)
        if client.client_id in clients:
            raise ValueError(f"client {seed.id!r}: expected one of that id, found two")
        clients[client.client_id] = client
    return tuple(clients.values())


def tenants_own_clients(tenants: Tenants) -> Iterator[Client]:
    """Return the clients of the provider's pages and console, for each tenant."""
    for tenant in tenants.all():
        yield from own_clients(tenant)


def bootstrap_users(bootstrap: BootstrapConfig) -> Sequence[UserSeed]:
    """Return all users, the administrator with all permissions first unless it is set up later; raises ValueError."""
    if bootstrap.admin_setup:
        return _once(bootstrap.users)
    if not bootstrap.admin_password:
        raise ValueError("bootstrap.admin_password: expected a password, found none")
    administrator = UserSeed(
        email=bootstrap.admin_email, password=bootstrap.admin_password, permissions=tuple(Permission)
    )
    return _once((administrator, *bootstrap.users))


def _once(users: Sequence[UserSeed]) -> Sequence[UserSeed]:
    if len({email_key(user.email) for user in users}) < len(users):
        raise ValueError("bootstrap.users: expected each address once, found one twice")
    return users


@dataclass(frozen=True, slots=True)
class SeedWriter:
    """Writes the seeds to the store; several processes may do so at the same time."""

    store: RecordStore
    tenants: Tenants
    passwords: Passwords
    randomness: Randomness
    clock: Clock

    async def write(self, clients: Iterable[Client], users: Sequence[UserSeed]) -> None:
        """Write some clients at once: with thousands of tenants, a start would take minutes otherwise."""
        left = iter(clients)
        await asyncio.gather(*(self._write_clients(left) for _ in range(CLIENTS_AT_ONCE)))
        for user in users:
            await self._write_user(user)

    async def _write_clients(self, left: Iterator[Client]) -> None:
        for client in left:
            await self._write_client(client)

    async def _write_client(self, client: Client) -> None:
        records = self.store.of(CLIENTS)
        kept = await records.get(client.tenant_id, client.id)
        try:
            if kept is None:
                await records.insert(client)
                return
            # Administrators change roles, groups and logo, so the stored ones stay.
            wanted = replace(
                client, revision=kept.revision, roles=kept.roles, groups=kept.groups, logo_id=kept.logo_id
            )
            if wanted != kept:
                await records.replace(wanted)
        except (AlreadyThere, Changed):
            return  # another process, which has the same configuration

    async def _write_user(self, seed: UserSeed) -> None:
        records, tenant_id = self.store.of(USERS), self.tenants.default.tenant_id
        if await records.find(tenant_id, "email", email_key(seed.email)):
            return
        password_hash = await self.passwords.hash(tenant_id, seed.password)
        try:
            await records.insert(self._user(seed, tenant_id, password_hash))
        except AlreadyThere:
            return  # another process was faster

    def _user(self, seed: UserSeed, tenant_id: TenantId, password_hash: str) -> User:
        now = self.clock.now()
        return User(
            tenant_id=tenant_id,
            id=self.randomness.alphanumeric(_USER_ID_LENGTH),
            email=email_key(seed.email),
            is_email_verified=True,
            preferred_username=seed.preferred_username,
            given_name=seed.given_name,
            family_name=seed.family_name,
            values={name: value for name in _VALUES if (value := getattr(seed, name))},
            account_type=AccountType.PASSWORD,
            password_hash=password_hash,
            roles=seed.roles,
            groups=seed.groups,
            tenant_ids=self.tenants.ids,
            permissions=tuple(map(Permission, seed.permissions)),
            created_at=now,
            changed_at=now,
        )


def _client(seed: ClientSeed, tenants: Tenants, secrets: SecretHasher, lifetimes: TokenConfig) -> Client:
    permissions = tuple(map(Permission, seed.permissions))
    scopes = seed.scopes if seed.redirect_uris or seed.device_grant else ()
    return Client(
        tenant_id=tenants.default.tenant_id,
        id=seed.id,
        name=seed.name or seed.id,
        secret_hash=secrets.hash(seed.secret) if seed.secret else None,
        token_endpoint_auth_method=_method(seed),
        tenant_ids=_tenant_ids(seed, tenants),
        permissions=permissions,
        oauth_scopes=(*scopes, *permissions),
        default_scopes=permissions,
        grant_types=frozenset(_grant_types(seed)),
        redirect_uris=seed.redirect_uris,
        post_logout_redirect_uris=seed.post_logout_redirect_uris,
        backchannel_logout_uri=seed.backchannel_logout_uri,
        consent=seed.consent,
        access_token_signed_response_alg=seed.access_token_signed_response_alg,
        id_token_signed_response_alg=seed.id_token_signed_response_alg,
        access_token_lifetime=lifetimes.access_token_lifetime,
        requires_pkce=not seed.secret,
    )


def _method(seed: ClientSeed) -> AuthenticationMethod:
    return AuthenticationMethod.CLIENT_SECRET_BASIC if seed.secret else AuthenticationMethod.NONE


def _grant_types(seed: ClientSeed) -> Iterator[GrantType]:
    if seed.secret:
        yield GrantType.CLIENT_CREDENTIALS
    if seed.redirect_uris:
        yield GrantType.AUTHORIZATION_CODE
    if seed.device_grant:
        yield GrantType.DEVICE_CODE
    if seed.redirect_uris or seed.device_grant:
        yield GrantType.REFRESH_TOKEN


def _seeds(bootstrap: BootstrapConfig) -> Iterator[ClientSeed]:
    if not bootstrap.client_secret:
        raise ValueError(f"client {bootstrap.client_id!r}: expected a secret, found none")
    # It belongs to the default tenant only, so its calls need no tenant id.
    yield ClientSeed(id=bootstrap.client_id, secret=bootstrap.client_secret, permissions=tuple(Permission))
    yield from bootstrap.clients


def _tenant_ids(seed: ClientSeed, tenants: Tenants) -> tuple[TenantId, ...]:
    unknown = set(seed.tenants) - set(tenants.ids)
    if unknown:
        raise ValueError(f"client {seed.id!r}: there is no tenant {', '.join(sorted(unknown))}")
    return tuple(map(TenantId, seed.tenants)) or (tenants.default.tenant_id,)
