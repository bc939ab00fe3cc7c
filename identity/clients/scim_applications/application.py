"""A SCIM application, and the users and groups that the provider has written to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from identity.crypto.keys.master_keys import Sealed
from identity.delivery.subscribers import Subscriber
from identity.foundation.searches import words_of
from server.platform.call import TenantId
from server.platform.records import Kind, Owner, Record, Records, RecordStore, every


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimApplication(Subscriber):
    """The SCIM service of a client; `id` is that of the client.

    `links` begins the ids of the application's resources; another base address has another one. Events that wait name
    users whose changes are not written yet. A comparison of all users continues after the id of a user,
    `compares_after`, which is None if none runs; with `is_stale` another comparison follows.
    """

    base_uri: str
    bearer_token: Sealed = field(repr=False)
    sync_groups: bool = False
    group_sync_prefix: str = ""
    links: str
    created_at: datetime
    compares_after: str | None = ""
    is_stale: bool = False
    compared_at: datetime | None = None
    succeeded_at: datetime | None = None
    last_error: str = ""

    @property
    def words(self) -> frozenset[str]:
        """Texts by whose beginnings an administrator finds the application: the client id, whole and in parts."""
        return words_of(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimResource(Record):
    """A user or group at an application.

    `application` is the beginning of ids of the application. `remote_id` is the id that the service gave, empty if it
    refused to create the resource. `digest` is that of the last document. `error` is the refusal of the last request,
    which is repeated from `retry_at`. `groups` are ids of the user's groups at the service.
    """

    application: str
    remote_id: str = ""
    digest: str = ""
    error: str = ""
    retry_at: datetime | None = None
    groups: tuple[str, ...] = ()

    @property
    def remote(self) -> str:
        """Finds the resource by its id at the service, which only one user or group has."""
        if not self.remote_id:
            return ""
        application, kind, _ = self.id.split(".", 2)
        return remote_key(f"{application}.{kind}", self.remote_id)

    @property
    def refused_by(self) -> str:
        """The application that refused the last request, empty for none."""
        return self.application if self.error else ""

    @property
    def local_id(self) -> str:
        return self.id.split(".", 2)[2]


SCIM_APPLICATIONS = Kind(
    ScimApplication,
    "scim_application",
    words=("words",),
    scheduled="next_at",
    owners=(Owner("client"),),
    named_by="links",
)
SCIM_RESOURCES = Kind(
    ScimResource,
    "scim_resource",
    unique=("remote",),
    indexed=("application", "refused_by"),
    owners=(Owner("scim_application", "application"),),
)


def user_links(application: ScimApplication) -> str:
    """Return the beginning of the ids of users, without the separator."""
    return f"{application.links}.u"


def group_links(application: ScimApplication) -> str:
    return f"{application.links}.g"


def remote_key(links: str, remote_id: str) -> str:
    return f"{links}.{remote_id}"


async def ids_of_user(store: RecordStore, tenant_id: TenantId, user_id: str) -> Sequence[str]:
    """Return the ids of the records about a user, of all applications."""
    return [f"{user_links(each)}.{user_id}" async for each in every(store.of(SCIM_APPLICATIONS), tenant_id)]


async def remove_resources(records: Records[ScimResource], tenant_id: TenantId, links: str) -> None:
    """Forget what an application has; the application keeps it."""
    await records.remove(tenant_id, "application", links)
