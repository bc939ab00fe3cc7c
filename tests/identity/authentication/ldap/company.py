"""A tenant whose users sign in through directories."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from identity.access.last_administrator import LastAdministrator
from identity.authentication.federation.linked_accounts import LinkedAccounts
from identity.authentication.ldap.accounts import LdapAccounts
from identity.authentication.ldap.pools import LdapPools
from identity.authentication.ldap.secrets import LdapSecrets
from identity.authentication.ldap.sign_in import LdapSignIn
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.password_sign_in import PasswordSignIn
from identity.delivery.http.destinations import Destinations
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.tenants.ldap_directory import (
    LDAP_DIRECTORIES,
    LDAP_LINKS,
    LdapDirectory,
    LdapFields,
    LdapLink,
)
from identity.directory.user import User, UserId
from identity.foundation.tenants import Tenant
from tests.identity.browsers import ADDRESS, NoBrowsers, Provider
from tests.identity.crypto.keys.rings import master_keys
from tests.slapd import ADMIN, ADMIN_PASSWORD, USERS, Slapd

LOOPBACK = Destinations.of_networks(["127.0.0.0/8", "::1/128"])


@dataclass
class EndedSessions:
    user_ids: list[str] = field(default_factory=list)

    async def finish(self, _tenant: Tenant, user_id: UserId) -> None:
        self.user_ids.append(user_id)


@dataclass
class Version:
    advances: int = 0

    async def advance(self, *_ids: str) -> None:
        self.advances += 1


def fields_of(server: Slapd, **fields: object) -> LdapFields:
    known: dict[str, object] = {
        "name": "Company",
        "is_enabled": True,
        "urls": (server.ldaps,),
        "ca_certificates": server.authority,
        "bind_dn": ADMIN,
        "user_base": USERS,
    }
    return LdapFields(**{**known, **fields})  # type: ignore[arg-type]  # fields by name


class Company:
    def __init__(self, destinations: Destinations = LOOPBACK) -> None:
        self.provider = provider = Provider()
        self.store = provider.store
        self.ended = EndedSessions()
        self.version = Version()
        self.administrators: set[str] = set()
        self.secrets = LdapSecrets(self.store, master_keys())
        self.pools = LdapPools(destinations, provider.clock)
        self.accounts = LdapAccounts(
            linked=LinkedAccounts(
                users=provider.users,
                links=self.store.of(LDAP_LINKS),
                administers=self._administers,
                last_administrator=LastAdministrator(self.store, provider.tenants, provider.clock, emails=()),
                version=self.version,  # type: ignore[arg-type]  # what it uses of it
                sign_out=self.ended,
                passkeys=self.store.of(PASSKEYS),
                events=provider.events,
                clock=provider.clock,
            ),
            clock=provider.clock,
            randomness=provider.randomness,
        )
        self.directories = LdapSignIn(
            self.store, self.pools, self.secrets, self.accounts, provider.randomness
        )
        self._sign_in = PasswordSignIn(
            provider.users,
            provider.passwords,
            protection=provider.protection,
            browsers=NoBrowsers(),
            confirmation=provider.confirmation,
            clock=provider.clock,
            events=provider.events,
            costliest=CostliestHashes(provider.store),
            directories=self.directories,
        )

    async def use(
        self, fields: LdapFields, *, directory_id: str = "company", password: str = ADMIN_PASSWORD
    ) -> LdapDirectory:
        tenant_id = self.provider.tenant.tenant_id
        sealed = self.secrets.seal(password, tenant_id, directory_id) if fields.bind_dn else None
        directory = LdapDirectory(tenant_id=tenant_id, id=directory_id, fields=fields, bind_password=sealed)
        records = self.store.of(LDAP_DIRECTORIES)
        await records.take(tenant_id, directory_id)
        return await records.insert(directory)

    async def links(self) -> Sequence[LdapLink]:
        return await self.store.of(LDAP_LINKS).page(self.provider.tenant.tenant_id)

    async def sign_in(self, name: str, password: str) -> User:
        return await self._sign_in.verify(
            self.provider.tenant, email=name, password=password, peer_address=ADDRESS
        )

    async def _administers(self, user: User) -> bool:
        return user.id in self.administrators or "admin" in user.roles
