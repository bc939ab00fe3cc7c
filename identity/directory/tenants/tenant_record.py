"""The stored record of a tenant."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from identity.directory.tenants.password_policy import PasswordPolicy
from identity.directory.tenants.settings import TenantSettings
from identity.foundation.searches import words_of
from identity.foundation.vocabulary import SecurityProfile
from server.platform.call import TenantId
from server.platform.records import Kind, Record

# Records of tenants belong to the deployment.
DEPLOYMENT = TenantId("")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RemovalPhase(StrEnum):
    """State of the removal of a tenant: the engine clears its share; then its partitions release the id."""

    NONE = ""
    CLEARING = "clearing"
    RELEASING = "releasing"


class SweepStage(StrEnum):
    SESSIONS = "sessions"
    TOKEN_SETS = "token_sets"  # noqa: S105  # a stage of the sweep
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOutSweep:
    """The removal of what the tenant's `not_before` refuses; `after` is the last id that the present stage has seen.

    `process` has claimed the sweep until `claimed_until`. Of `sessions` at the beginning, `seen` are examined.
    """

    process: str = ""
    claimed_until: datetime | None = None
    stage: SweepStage = SweepStage.SESSIONS
    after: str = ""
    sessions: int | None = None
    seen: int = 0
    sessions_ended: int = 0
    token_sets_ended: int = 0
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRecord(Record):
    """`id` is the tenant's id, `tenant_id` that of the deployment; with a `hostname` the issuer is at that host.

    `costliest_hash` has the parameters of the costliest password hash that was imported, and is of no password.
    A tenant is deleted once `deleted_at` is set; its record stays until everything else of it is removed. `removal` is
    then the state of the removal, `rows_left` the number of rows that the engine counted last. Sessions, grants and
    tokens that began before `not_before` are refused, and `sweep` removes them.
    """

    name: str
    description: str | None = None
    hostname: str = ""
    is_enabled: bool = True
    settings: TenantSettings = field(default_factory=TenantSettings)
    password_policy: PasswordPolicy = field(default_factory=PasswordPolicy)
    created_at: datetime
    deleted_at: datetime | None = None
    costliest_hash: str = ""
    not_before: datetime | None = None
    sweep: SignOutSweep | None = None
    removal: RemovalPhase = RemovalPhase.NONE
    rows_left: int | None = None

    @property
    def own_id(self) -> TenantId:
        return TenantId(self.id)

    @property
    def words(self) -> frozenset[str]:
        """Texts by whose beginnings an administrator finds the tenant: id, name and hostname, whole and in parts."""
        return words_of(self.id, self.name, self.hostname)

    @property
    def removal_number(self) -> int:
        """The number of the removal, which no other removal of this id has; 0 without one."""
        return 0 if self.deleted_at is None else (self.deleted_at - _EPOCH) // timedelta(microseconds=1)

    @property
    def security_profile(self) -> SecurityProfile:
        return self.settings.profile


TENANTS = Kind(
    TenantRecord,
    "tenant",
    unique=("hostname",),
    indexed=("removal",),
    derived=("name", "deleted_at"),
    words=("words",),
    owners=(),
)
