"""Commands about jobs."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from server.engine.addresses import HERE, Address, OwnersOf
from server.engine.job_results import AnyJobResult
from server.engine.keys import Key
from server.engine.variables import Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateJobs:
    """Activate up to `max_jobs` jobs of a type; empty `fetch_variables` mean every visible variable.

    The variables of all jobs have at most `max_octets`. With None, they fit into one answer, and at least one
    job is activated however large its variables are.
    """

    tenant_id: str
    type: str
    worker: str
    timeout: timedelta
    max_jobs: int
    fetch_variables: tuple[str, ...] = ()
    max_octets: int | None = None

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class YieldJobs:
    """Offer activated jobs again that never reached their worker; each has the deadline of its activation."""

    tenant_id: str
    jobs: tuple[tuple[Key, datetime], ...]

    @property
    def address(self) -> Address:
        return OwnersOf(tuple(key for key, _ in self.jobs))


@dataclass(frozen=True, slots=True)
class CompleteJob:
    tenant_id: str
    job_key: Key
    variables: Variables = field(default_factory=dict)
    result: AnyJobResult | None = None

    @property
    def address(self) -> Address:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class FailJob:
    """Return an activated job with a failure."""

    tenant_id: str
    job_key: Key
    retries: int = 0
    error_message: str = ""
    retry_back_off: timedelta = timedelta()
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrowJobError:
    tenant_id: str
    job_key: Key
    error_code: str
    error_message: str = ""
    variables: Variables = field(default_factory=dict)

    @property
    def address(self) -> Address:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateJob:
    tenant_id: str
    job_key: Key
    retries: int | None = None
    timeout: timedelta | None = None

    @property
    def address(self) -> Address:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True)
class TimeOutJob:
    """Sent by time: the deadline of an activated job has passed."""

    tenant_id: str
    job_key: Key
    deadline: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.job_key,))


@dataclass(frozen=True, slots=True)
class EndJobBackOff:
    """Sent by time: the retry back-off of a job has ended."""

    tenant_id: str
    job_key: Key
    offered_at: datetime

    @property
    def address(self) -> OwnersOf:
        return OwnersOf((self.job_key,))
