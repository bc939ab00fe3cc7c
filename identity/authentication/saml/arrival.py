"""A response of a SAML provider between its POST and our own request that reads it.

Browsers send no cookie with a form of another site, so the response waits until the browser returns with its session.
"""

from dataclasses import dataclass, field
from datetime import datetime

from identity.foundation.tenants import Tenant
from server.platform.errors import Unauthenticated
from server.platform.records import AlreadyThere, Kind, Record, RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlArrival(Record):
    """`id` is the id of the pending sign-in; `message` is the response as it was posted."""

    message: str = field(repr=False)


SAML_ARRIVALS = Kind(SamlArrival, "saml_arrival", owners=())


class SamlArrivals:
    def __init__(self, store: RecordStore) -> None:
        self._records = store.of(SAML_ARRIVALS)

    async def keep(self, tenant: Tenant, login_id: str, message: str, *, until: datetime | None) -> None:
        """Store the one response of a sign-in; raises Unauthenticated for a second one."""
        arrival = SamlArrival(tenant_id=tenant.tenant_id, id=login_id, expires_at=until, message=message)
        try:
            await self._records.insert(arrival)
        except AlreadyThere as error:
            raise Unauthenticated("a response to the request has arrived before") from error

    async def take(self, tenant: Tenant, login_id: str) -> str:
        """Return the response and remove it; raises Unauthenticated without one."""
        arrival = await self._records.take(tenant.tenant_id, login_id)
        if arrival is None:
            raise Unauthenticated("no response of the provider has arrived")
        return arrival.message
