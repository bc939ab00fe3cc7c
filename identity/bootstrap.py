"""Who exists when the provider starts: its tenants, an administrator and the clients of the configuration."""

from collections.abc import Iterator, Mapping

from identity.clients.client import Client, ClientId
from identity.clients.secrets import SecretHasher
from identity.config import BootstrapConfig, ClientSeed, IdentityConfig, TokenConfig
from identity.directory.user import User, UserId
from identity.randomness import Randomness
from identity.tenants import Tenants, tenant_id_of
from identity.vocabulary import Permission
from server.platform.call import TenantId

_USER_ID_LENGTH = 24


def bootstrap_tenants(config: IdentityConfig) -> Tenants:
    """Return all tenants; raises ValueError for a name that no tenant may have."""
    default = tenant_id_of(config.bootstrap.tenant)
    return Tenants(config.identity.origin, default, map(tenant_id_of, config.bootstrap.tenants))


def bootstrap_administrator(bootstrap: BootstrapConfig, tenants: Tenants, randomness: Randomness) -> User:
    """Return the administrator, who may do everything everywhere; raises ValueError when the password is missing."""
    if not bootstrap.admin_password:
        raise ValueError("bootstrap.admin_password: expected a password, found none")
    return User(
        user_id=UserId(randomness.alphanumeric(_USER_ID_LENGTH)),
        email=bootstrap.admin_email,
        tenant_ids=tenants.ids,
        permissions=tuple(Permission),
    )


def bootstrap_clients(
    config: IdentityConfig, tenants: Tenants, secrets: SecretHasher
) -> Mapping[ClientId, Client]:
    """Return all clients; raises ValueError for a seed that names what does not exist, or that comes twice."""
    clients: dict[ClientId, Client] = {}
    for seed in _seeds(config.bootstrap):
        client = _client(seed, tenants, secrets, config.token)
        if client.client_id in clients:
            raise ValueError(f"client {seed.id!r}: expected one of that id, found two")
        clients[client.client_id] = client
    return clients


def _client(seed: ClientSeed, tenants: Tenants, secrets: SecretHasher, lifetimes: TokenConfig) -> Client:
    permissions = tuple(map(Permission, seed.permissions))
    return Client(
        client_id=ClientId(seed.id),
        secret_hash=secrets.hash(seed.secret),
        tenant_ids=_tenant_ids(seed, tenants),
        permissions=permissions,
        oauth_scopes=permissions,
        access_token_lifetime=lifetimes.access_token_lifetime,
    )


def _seeds(bootstrap: BootstrapConfig) -> Iterator[ClientSeed]:
    # Of the default tenant alone, so that its calls need not name one.
    yield ClientSeed(id=bootstrap.client_id, secret=bootstrap.client_secret, permissions=tuple(Permission))
    yield from bootstrap.clients


def _tenant_ids(seed: ClientSeed, tenants: Tenants) -> tuple[TenantId, ...]:
    unknown = set(seed.tenants) - set(tenants.ids)
    if unknown:
        raise ValueError(f"client {seed.id!r}: there is no tenant {', '.join(sorted(unknown))}")
    return tuple(map(TenantId, seed.tenants)) or (tenants.default.tenant_id,)
