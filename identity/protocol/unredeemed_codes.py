"""Authorization codes, device codes and accepted backchannel requests that clients have not redeemed yet."""

from identity.access.backchannel import BACKCHANNEL_REQUESTS
from identity.access.device import DEVICE_CODES
from identity.authentication.authorization.code import AUTHORIZATION_CODES
from identity.directory.client import ClientId
from identity.directory.consents.consent import pair_of
from identity.directory.user import UserId
from identity.foundation.tenants import Tenant
from server.platform.records import RecordStore


class UnredeemedCodes:
    def __init__(self, store: RecordStore) -> None:
        self._codes = store.of(AUTHORIZATION_CODES)
        self._device_codes = store.of(DEVICE_CODES)
        self._backchannel_requests = store.of(BACKCHANNEL_REQUESTS)

    async def remove(self, tenant: Tenant, user_id: UserId, client_id: ClientId) -> None:
        """Remove all codes that the client has for the user."""
        pair = pair_of(user_id, client_id)
        await self._codes.remove(tenant.tenant_id, "pair", pair)
        await self._device_codes.remove(tenant.tenant_id, "pair", pair)
        await self._backchannel_requests.remove(tenant.tenant_id, "pair", pair)
