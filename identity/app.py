"""Composition root: the only place that sees the whole provider."""

from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    directory_service_pb2,
    discovery_service_pb2,
    key_set_service_pb2,
    token_service_pb2,
)
from identity.bootstrap import bootstrap_administrator, bootstrap_clients, bootstrap_tenants
from identity.clients.authentication import ClientAuthenticator
from identity.clients.secrets import SecretHasher
from identity.config import IdentityConfig
from identity.directory.passwords import Passwords
from identity.directory.principals import Principals
from identity.grants.pipeline import TokenPipeline
from identity.grants.table import grants
from identity.key_ring import KeyRing
from identity.randomness import Randomness, SystemRandomness
from identity.rpc.directory import DirectoryServicer
from identity.rpc.discovery import DiscoveryServicer
from identity.rpc.key_set import KeySetServicer
from identity.rpc.token import TokenServicer
from identity.store.records import MemoryRecords
from identity.tokens.access_token import AccessTokens
from server.platform.clock import Clock, SystemClock

_SECRET_HASH_KEY_LENGTH = 32

_TOKEN = token_service_pb2.DESCRIPTOR.services_by_name["TokenService"]
_KEY_SET = key_set_service_pb2.DESCRIPTOR.services_by_name["KeySetService"]
_DISCOVERY = discovery_service_pb2.DESCRIPTOR.services_by_name["DiscoveryService"]
_DIRECTORY = directory_service_pb2.DESCRIPTOR.services_by_name["DirectoryService"]


@dataclass(frozen=True, slots=True)
class Identity:
    """The provider, ready to serve; keys and the administrator's password hash are still being computed."""

    issuer: str
    servicers: Mapping[ServiceDescriptor, object]
    passwords: Passwords
    keys: KeyRing

    def close(self) -> None:
        """Let go of the worker threads."""
        self.keys.close()
        self.passwords.close()


def create_identity(
    config: IdentityConfig, clock: Clock | None = None, randomness: Randomness | None = None
) -> Identity:
    """Compose the provider; raises ValueError when the bootstrap section contradicts itself or lacks a secret."""
    clock, randomness = clock or SystemClock(), randomness or SystemRandomness()
    tenants = bootstrap_tenants(config)
    secrets = SecretHasher(randomness.octets(_SECRET_HASH_KEY_LENGTH))
    clients = MemoryRecords(bootstrap_clients(config, tenants, secrets))
    administrator = bootstrap_administrator(config.bootstrap, tenants, randomness)
    users = MemoryRecords({administrator.user_id: administrator})
    passwords, keys = Passwords(config.passwords), KeyRing(randomness, config.token.signing_keys)
    passwords.set(administrator.user_id, config.bootstrap.admin_password)
    keys.prepare(tenants.default.tenant_id)
    table = grants()
    tokens = AccessTokens(keys, tenants, clock, randomness)
    pipeline = TokenPipeline(ClientAuthenticator(clients, secrets, tenants), table, tokens)
    return Identity(
        issuer=tenants.default.issuer,
        servicers={
            _TOKEN: TokenServicer(tenants, pipeline),
            _KEY_SET: KeySetServicer(tenants, keys),
            _DISCOVERY: DiscoveryServicer(tenants, table),
            _DIRECTORY: DirectoryServicer(Principals(users, clients)),
        },
        passwords=passwords,
        keys=keys,
    )
