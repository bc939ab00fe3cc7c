"""Types of authorization details of a tenant: the check of a client's request, and texts for users."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from identity.directory.authorization_details.detail_fields import DetailFields, Row
from identity.directory.authorization_details.details import Details, read, type_of, types_of
from identity.directory.client import Client
from identity.directory.labels import AUTHORIZATION_DETAILS_TYPES, AuthorizationDetailsType
from identity.foundation.errors import InvalidAuthorizationDetails
from identity.foundation.tenants import Tenant
from server.platform.records import RecordStore


@dataclass(frozen=True, slots=True)
class ShownDetail:
    """A detail as pages show it; the title is the name of a type that was removed."""

    detail: str
    title: str
    description: str
    rows: Sequence[Row]


class DetailTypes:
    def __init__(self, store: RecordStore) -> None:
        self._records = store.of(AUTHORIZATION_DETAILS_TYPES)

    async def asked(self, tenant: Tenant, client: Client, text: str) -> Details:
        """Return the details of a client's request, as their types define them.

        Raises InvalidAuthorizationDetails, also for a type that the client may not ask for.
        """
        details = read(text)
        found = {}
        for name in types_of(details):
            known = await self._find(tenant, name) if name in client.authorization_details_types else None
            if known is None:
                raise InvalidAuthorizationDetails("a type is unknown or not granted to this client")
            found[name] = DetailFields(known.fields)
        for detail in details:
            found[type_of(detail)].check(detail)
        return details

    async def shown(self, tenant: Tenant, details: Details) -> Sequence[ShownDetail]:
        found = {name: await self._find(tenant, name) for name in types_of(details)}
        return [_shown(detail, found[type_of(detail)]) for detail in details]

    async def registrable(self, tenant: Tenant, names: Collection[str]) -> frozenset[str]:
        """Return those of the types that clients may have that register themselves."""
        found = [await self._find(tenant, name) for name in names]
        return frozenset(each.name for each in found if each is not None and each.self_registration)

    async def _find(self, tenant: Tenant, name: str) -> AuthorizationDetailsType | None:
        found = await self._records.find(tenant.tenant_id, "name", name, most=1)
        return found[0] if found else None


def _shown(detail: str, known: AuthorizationDetailsType | None) -> ShownDetail:
    rows = DetailFields(known.fields if known is not None else "").rows(detail)
    if known is None:
        return ShownDetail(detail, type_of(detail), "", rows)
    return ShownDetail(detail, known.title, known.description, rows)
