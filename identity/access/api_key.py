"""An API key, which a program uses to administer a tenant."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from identity.access.callers import AdministrationArea, Right
from server.platform.records import Kind, Record


@dataclass(frozen=True, slots=True)
class Access:
    """Rights to one area."""

    area: AdministrationArea
    rights: frozenset[Right]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey(Record):
    """`id` is the name of the key. The record holds only a keyed hash of the secret."""

    secret_hash: bytes = field(repr=False)
    created_at: datetime
    access: tuple[Access, ...] = ()

    @property
    def name(self) -> str:
        return self.id

    def has(self, area: AdministrationArea, right: Right) -> bool:
        return any(access.area is area and right in access.rights for access in self.access)

    def covers(self, others: Iterable[Access]) -> bool:
        """Whether it has all of these rights itself."""
        return all(self.has(access.area, right) for access in others for right in access.rights)


API_KEYS = Kind(ApiKey, "api_key")
