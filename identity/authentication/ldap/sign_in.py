"""Verifies a password at the directories of a tenant: RFC 4513 §5.1.

The answer reveals neither who is in a directory nor why a user of one is refused: an unknown name costs a search and a
bind like a known one, and directories say the same of a wrong password as of an expired one and a disabled account.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from identity.authentication.ldap.accounts import LdapAccounts, has_own_password
from identity.authentication.ldap.names import searched_name
from identity.authentication.ldap.person import LdapPerson, find_person, groups_of
from identity.authentication.ldap.pools import LdapPools
from identity.authentication.ldap.secrets import LdapSecrets
from identity.delivery.ldap.connection import INVALID_CREDENTIALS, SUCCESS, LdapConnection
from identity.delivery.ldap.errors import LdapError, LdapRefused
from identity.directory.tenants.ldap_directory import LDAP_DIRECTORIES, MOST, LdapDirectory
from identity.directory.user import User
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.errors import Unavailable
from server.platform.records import RecordStore

logger = logging.getLogger(__name__)

_DECOY_LENGTH = 24


@dataclass(frozen=True, slots=True)
class _Verified:
    """`groups` are DNs and names of the user's groups there."""

    directory: LdapDirectory
    person: LdapPerson
    groups: Sequence[str]


class LdapSignIn:
    def __init__(
        self,
        store: RecordStore,
        pools: LdapPools,
        secrets: LdapSecrets,
        accounts: LdapAccounts,
        randomness: Randomness,
    ) -> None:
        self._directories = store.of(LDAP_DIRECTORIES)
        self._pools = pools
        self._secrets = secrets
        self._accounts = accounts
        self._randomness = randomness

    async def find(self, tenant: Tenant, *, name: str, password: str, known: User | None) -> User | None:
        """Return the account of the user of a directory who has this name and password.

        `known` is the account with this address. If it has its own password, the directories are asked all the same, but
        for nobody. Raises Unavailable when a directory that may know the user does not answer, and PermissionDenied for a
        user without an account.
        """
        if not password:
            return None
        searched = None if known is not None and has_own_password(known) else searched_name(name)
        verified, failed = await self._verified(await self._enabled(tenant), searched, password)
        if verified is not None:
            return await self._accounts.of(tenant, verified.directory, verified.person, verified.groups)
        if failed:
            raise Unavailable(
                "a directory that may know this password does not answer; try again later",
                cause="DIRECTORY_UNAVAILABLE",
            )
        return None

    async def are_used(self, tenant: Tenant) -> bool:
        """Whether the tenant has directories whose users sign in."""
        return bool(await self._enabled(tenant))

    async def _enabled(self, tenant: Tenant) -> Sequence[LdapDirectory]:
        found = await self._directories.page(tenant.tenant_id, most=MOST)
        return sorted((each for each in found if each.fields.is_enabled), key=lambda each: each.name)

    async def _verified(
        self, directories: Sequence[LdapDirectory], name: str | None, password: str
    ) -> tuple[_Verified | None, bool]:
        """Ask each directory until one knows the user; also return whether one did not answer."""
        failed = False
        for directory in directories:
            try:
                verified = await self._verified_at(directory, name, password)
            except LdapError as error:
                extra = {"tenant_id": directory.tenant_id, "directory_id": directory.id, "reason": str(error)}
                logger.warning("a directory could not verify a password", extra=extra)
                failed = True
                continue
            if verified is not None:
                return verified, failed
        return None, failed

    async def _verified_at(
        self, directory: LdapDirectory, name: str | None, password: str
    ) -> _Verified | None:
        fields = directory.fields
        # An entry of this name cannot exist, so a search and a bind for nobody cost what they cost for somebody.
        decoy = self._randomness.alphanumeric(_DECOY_LENGTH)

        async def work(connection: LdapConnection) -> _Verified | None:
            await bind_as_provider(connection, directory, self._secrets)
            person = await find_person(connection, fields, name or decoy)
            dn = person.dn if person is not None else f"cn={decoy},{fields.user_base}"
            is_right = await connection.bind(dn, password) == SUCCESS
            if person is None or person.is_disabled or not is_right:
                return None
            await bind_as_provider(connection, directory, self._secrets)
            return _Verified(directory, person, await groups_of(connection, fields, person))

        return await self._pools.of(directory).run(work)


async def bind_as_provider(
    connection: LdapConnection, directory: LdapDirectory, secrets: LdapSecrets
) -> None:
    """Raises LdapError."""
    code = await connection.bind(directory.fields.bind_dn, secrets.open(directory))
    if code == INVALID_CREDENTIALS:
        raise LdapRefused("the directory refuses bind_dn or its password", code)
    if code != SUCCESS:
        raise LdapRefused(f"the directory refuses the bind of bind_dn with result code {code}", code)
