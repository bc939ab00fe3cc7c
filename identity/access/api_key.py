"""An API key, which a program uses to administer a tenant."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from identity.access.callers import AdministrationArea, Right
from server.platform.records import Kind, Record

LATER_AREAS = frozenset(
    {
        AdministrationArea.PERSONAL_DATA,
        AdministrationArea.PROVISIONING,
        AdministrationArea.TERMS_OF_USE,
        AdministrationArea.WEBHOOKS,
    }
)
"""Areas that the previous version does not know."""


@dataclass(frozen=True, slots=True)
class Access:
    """Rights to one area."""

    area: AdministrationArea
    rights: frozenset[Right]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey(Record):
    """`id` is the name of the key. The record holds only a keyed hash of the secret.

    `later_access` are the rights to areas that the previous version does not know: it can read the rest.
    """

    secret_hash: bytes = field(repr=False)
    created_at: datetime
    access: tuple[Access, ...] = ()
    later_access: tuple[Access, ...] = ()

    @property
    def name(self) -> str:
        return self.id

    @property
    def all_access(self) -> tuple[Access, ...]:
        return (*self.access, *self.later_access)

    def with_access(self, access: Collection[Access]) -> "ApiKey":
        """Return the key with these rights instead of its own."""
        return replace(
            self,
            access=tuple(each for each in access if each.area not in LATER_AREAS),
            later_access=tuple(each for each in access if each.area in LATER_AREAS),
        )

    def has(self, area: AdministrationArea, right: Right) -> bool:
        return any(access.area is area and right in access.rights for access in self.all_access)

    def covers(self, others: Iterable[Access]) -> bool:
        """Whether it has all of these rights itself."""
        return all(self.has(access.area, right) for access in others for right in access.rights)


API_KEYS = Kind(ApiKey, "api_key", owners=())
