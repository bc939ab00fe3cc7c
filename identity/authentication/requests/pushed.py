"""Pushed authorization requests: RFC 9126.

Each is answered once, for the client that pushed it. Until then its request URI can be opened again: a user may reload
the page, and a browser may fetch it in advance (FAPI 2.0 Security Profile §5.3.2.2).
"""

from dataclasses import dataclass, field
from datetime import timedelta

from identity.authentication.requests.parameters import Parameters
from identity.directory.client import Client, ClientId
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import InvalidRequestUri
from identity.foundation.randomness import Randomness
from identity.foundation.single_use import SingleUse
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.records import Kind, Owner, Record, Records

_REQUEST_URI = "urn:ietf:params:oauth:request_uri:"
_REFERENCE_LENGTH = 43
_LIFETIME_SECS = range(60, 601)

# A page that was opened in time may be answered for half an hour.
_ANSWERED_WITHIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedRequestConfig:
    """[pushed_authorization]: how long a pushed request waits for its browser."""

    lifetime_secs: int = 90

    def __post_init__(self) -> None:
        if self.lifetime_secs not in _LIFETIME_SECS:
            raise ValueError(
                f"pushed_authorization.lifetime_secs: expected 60 to 600, found {self.lifetime_secs}"
            )

    @property
    def lifetime(self) -> timedelta:
        return timedelta(seconds=self.lifetime_secs)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedRequest(Record):
    """`id` is a keyed hash of the reference in the request URI."""

    client_id: ClientId
    parameters: tuple[tuple[str, str], ...] = field(repr=False)


PUSHED_REQUESTS = Kind(PushedRequest, "pushed_request", owners=(Owner("client", "client_id"),))


class PushedRequests:
    def __init__(
        self,
        records: Records[PushedRequest],
        hasher: SecretHasher,
        *,
        single_use: SingleUse,
        clock: Clock,
        randomness: Randomness,
        config: PushedRequestConfig,
    ) -> None:
        self._records = records
        self._hasher = hasher
        self._single_use = single_use
        self._clock = clock
        self._randomness = randomness
        self._config = config

    @property
    def lifetime(self) -> timedelta:
        return self._config.lifetime

    async def keep(self, tenant: Tenant, client: Client, parameters: Parameters) -> str:
        """Store the parameters and return their request URI."""
        reference = self._randomness.alphanumeric(_REFERENCE_LENGTH)
        pushed = PushedRequest(
            tenant_id=tenant.tenant_id,
            id=self._id(reference),
            expires_at=self._clock.now() + self._config.lifetime,
            client_id=client.client_id,
            parameters=parameters.pairs,
        )
        await self._records.insert(pushed)
        return f"{_REQUEST_URI}{reference}"

    async def resolve(self, tenant: Tenant, client: Client, parameters: Parameters) -> Parameters | None:
        """Return the pushed parameters alone; None when `request_uri` is not a pushed one."""
        request_uri = parameters.one("request_uri")
        if not request_uri.startswith(_REQUEST_URI):
            return None
        record_id = self._id(request_uri.removeprefix(_REQUEST_URI))
        pushed = await self._records.get(tenant.tenant_id, record_id)
        if pushed is None or pushed.client_id != client.client_id:
            raise InvalidRequestUri("request_uri is unknown, used or expired")
        return Parameters(pushed.parameters, pushed_id=record_id)

    async def use_up(self, tenant: Tenant, pushed_id: str) -> bool:
        """Remove the request; True for the one caller that answers it."""
        until = self._clock.now() + _ANSWERED_WITHIN
        is_first = await self._single_use.spend(tenant, "pushed request", pushed_id, until=until)
        await self._records.take(tenant.tenant_id, pushed_id)
        return is_first

    def _id(self, reference: str) -> str:
        return self._hasher.hash(reference).hex()
