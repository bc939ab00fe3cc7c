"""Renames or removes a label in the records of all its holders.

A holder that gets the old name during the run is found by the next search, so that none is left.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from identity.directory.client import CLIENTS
from identity.directory.labels import GROUPS, ScopeDefinition
from identity.directory.mapping_rule import MAPPING_RULES
from identity.directory.provider import PROVIDERS, ClaimMapping, Provider
from identity.directory.tenants.ldap_directory import LDAP_DIRECTORIES, LdapDirectory, LdapGroupMapping
from identity.directory.user import USERS, User
from server.platform.call import TenantId
from server.platform.errors import Unavailable
from server.platform.records import Changed, Record, Records, RecordStore, every

# Records that are written in one step.
_PAGE = 500
# A further search finds records that were changed concurrently, and those beyond the first page.
_MOST_SEARCHES = 10_000


R = TypeVar("R", bound=Record)
M = TypeVar("M", ClaimMapping, LdapGroupMapping)
_Field: TypeAlias = Literal["groups", "roles"]


class Holders(Protocol):
    async def rename(self, tenant_id: TenantId, before: str, after: str) -> None:
        """Replace the name in all records, or remove it when `after` is empty; raises Unavailable."""
        ...


def holders_of_groups(store: RecordStore) -> Holders:
    return AllOf(
        RecordsWith(store.of(USERS), "groups"),
        RecordsWith(store.of(CLIENTS), "groups"),
        RecordsWith(store.of(MAPPING_RULES), "groups"),
        ProvidersThatGive(store.of(PROVIDERS), "groups"),
        LdapDirectoriesThatGive(store.of(LDAP_DIRECTORIES), "groups"),
    )


def holders_of_roles(store: RecordStore) -> Holders:
    return AllOf(
        RecordsWith(store.of(USERS), "roles"),
        RecordsWith(store.of(CLIENTS), "roles"),
        RecordsWith(store.of(GROUPS), "roles"),
        RecordsWith(store.of(MAPPING_RULES), "roles"),
        ProvidersThatGive(store.of(PROVIDERS), "roles"),
        LdapDirectoriesThatGive(store.of(LDAP_DIRECTORIES), "roles"),
    )


def holders_of_scopes(store: RecordStore) -> Holders:
    return AllOf(
        RecordsWith(store.of(CLIENTS), "oauth_scopes"), RecordsWith(store.of(CLIENTS), "default_scopes")
    )


class RecordsWith(Generic[R]):
    """Records with the name in a field by which they are found."""

    def __init__(self, records: Records[R], field: str) -> None:
        self._records = records
        self._field = field

    async def rename(self, tenant_id: TenantId, before: str, after: str) -> None:
        for _ in range(_MOST_SEARCHES):
            found = await self._records.find(tenant_id, self._field, before, most=_PAGE)
            if not found:
                return
            await self._records.replace_all([self._renamed(record, before, after) for record in found])
            # In memory no other work waits: other callers take their turn between two steps.
            await asyncio.sleep(0)
        raise Unavailable("too many records get the label at the same time")

    def _renamed(self, record: R, before: str, after: str) -> R:
        names = _renamed(getattr(record, self._field), before, after)
        return replace(record, **{self._field: names})  # type: ignore[arg-type]  # a field of names


class ProvidersThatGive:
    """Providers with a claim mapping that gives the name."""

    def __init__(self, providers: Records[Provider], field: _Field) -> None:
        self._providers = providers
        self._field = field

    async def rename(self, tenant_id: TenantId, before: str, after: str) -> None:
        def renamed(provider: Provider) -> Provider:
            mappings = _renamed_mappings(provider.fields.mappings, self._field, before, after)
            return replace(provider, fields=replace(provider.fields, mappings=mappings))

        await _write_each(self._providers, tenant_id, renamed)


class LdapDirectoriesThatGive:
    """LDAP directories with a group mapping that gives the name."""

    def __init__(self, directories: Records[LdapDirectory], field: _Field) -> None:
        self._directories = directories
        self._field = field

    async def rename(self, tenant_id: TenantId, before: str, after: str) -> None:
        def renamed(directory: LdapDirectory) -> LdapDirectory:
            mappings = _renamed_mappings(directory.fields.mappings, self._field, before, after)
            return replace(directory, fields=replace(directory.fields, mappings=mappings))

        await _write_each(self._directories, tenant_id, renamed)


class AllOf:
    def __init__(self, *holders: Holders) -> None:
        self._holders = holders

    async def rename(self, tenant_id: TenantId, before: str, after: str) -> None:
        for holders in self._holders:
            await holders.rename(tenant_id, before, after)


class PeopleWithAttributes:
    def __init__(self, users: Records[User]) -> None:
        self._users = users

    async def rename(self, tenant_id: TenantId, before: str, after: str) -> None:
        def renamed(user: User) -> User:
            return replace(user, attributes=_renamed_keys(user.attributes, before, after))

        await _write_each(self._users, tenant_id, renamed)


class ScopesWithAttributes:
    def __init__(self, definitions: Records[ScopeDefinition]) -> None:
        self._definitions = definitions

    async def rename(self, tenant_id: TenantId, before: str, after: str) -> None:
        def renamed(definition: ScopeDefinition) -> ScopeDefinition:
            return replace(
                definition,
                attr_include_access=_renamed(definition.attr_include_access, before, after),
                attr_include_id=_renamed(definition.attr_include_id, before, after),
            )

        await _write_each(self._definitions, tenant_id, renamed)


async def _write_each(records: Records[R], tenant_id: TenantId, changed: Callable[[R], R]) -> None:
    """Replace every record by the result of `changed`."""
    async for record in every(records, tenant_id):
        await _write_until_kept(records, record, changed)


async def _write_until_kept(records: Records[R], record: R, changed: Callable[[R], R]) -> None:
    current: R | None = record
    while current is not None and (after := changed(current)) != current:
        if await _write(records, after):
            return
        current = await records.get(record.tenant_id, record.id)


async def _write(records: Records[R], record: R) -> bool:
    """Return False when another caller changed the record in the meantime."""
    try:
        await records.replace(record)
    except Changed:
        return False
    return True


def _renamed_mappings(mappings: Sequence[M], field: _Field, before: str, after: str) -> tuple[M, ...]:
    if field == "groups":
        return tuple(replace(each, groups=_renamed(each.groups, before, after)) for each in mappings)
    return tuple(replace(each, roles=_renamed(each.roles, before, after)) for each in mappings)


def _renamed(names: Sequence[str], before: str, after: str) -> tuple[str, ...]:
    renamed = (after if name == before else name for name in names)
    return tuple(dict.fromkeys(filter(None, renamed)))


def _renamed_keys(attributes: Mapping[str, str], before: str, after: str) -> Mapping[str, str]:
    renamed = ((after if name == before else name, value) for name, value in attributes.items())
    return {name: value for name, value in renamed if name}
