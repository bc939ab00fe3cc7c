"""Statistics of jobs: the number of created, completed and failed ones in a time span, by groups.

They are computed from job rows, which show the last change. A job counts as failed if it ever failed or threw
an error, at the time of its last update. Each of the three counts uses another time field, and therefore
reads all rows of the tenant in the span by that field.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from server.platform.query import (
    Condition,
    Count,
    Different,
    Field,
    Latest,
    Operator,
    Statistic,
    equals,
)
from server.platform.query.statistics import Group, Measure, Values
from server.store.entities import Job, JobState
from server.store.ports import Store
from server.store.searchables import JOBS


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time span with an inclusive begin and an exclusive end, and conditions for the jobs in it."""

    begin: datetime
    end: datetime
    conditions: tuple[Condition, ...] = ()

    def of(self, field: Field) -> tuple[Condition, ...]:
        """The conditions for jobs with this time field in the span."""
        begins = Condition(field, Operator.GTE, self.begin)
        return (*self.conditions, begins, Condition(field, Operator.LT, self.end))


@dataclass(frozen=True, slots=True)
class Metric:
    """A count, and the time of the last counted job."""

    count: int = 0
    latest: datetime | None = None


@dataclass(slots=True)
class JobMetrics:
    """The metrics of one group of jobs."""

    created: Metric = Metric()
    completed: Metric = Metric()
    failed: Metric = Metric()


@dataclass(frozen=True, slots=True)
class ErrorOfJobs:
    """An error of jobs; the code is None for jobs that failed without throwing an error.

    `workers` is the number of workers that had such a job last.
    """

    error_code: str | None
    error_message: str
    jobs: int
    workers: int


CREATION, END, LAST_UPDATE = (JOBS.fields[name] for name in ("creation_time", "end_time", "last_update_time"))
TYPE, WORKER = JOBS.fields["type"], JOBS.fields["worker"]
HAS_WORKER = Condition(WORKER, Operator.NEQ, "")
HAS_FAILED = Condition(JOBS.fields["error_message"], Operator.EXISTS, operand=True)

ERRORS_OF_JOBS = Statistic.of(
    ErrorOfJobs,
    JOBS,
    by=("error_code", "error_message"),
    measures={"jobs": Count(), "workers": Different(WORKER, (HAS_WORKER,))},
)

By = Callable[[Field], Sequence[Group]]
"""Returns the group fields of jobs, given the time field that is counted by."""

HAS_COMPLETED = equals(JOBS, "state", JobState.COMPLETED)


async def job_metrics(
    store: Store, stretch: TimeSpan, by: By, *, tenant_id: str
) -> Mapping[Values, JobMetrics]:
    """The metrics of jobs, by the values of their group."""

    async def metrics(time: Field, *also: Condition) -> Sequence[tuple[Values, Metric]]:
        groups = tuple(by(time))
        statistic = counts_of(groups, Latest(time))
        found = await store.statistics(statistic, (*also, *stretch.of(time)), tenant_id=tenant_id)
        return [(values[: len(groups)], _metric(*values[len(groups) :])) for values in found]

    found: dict[Values, JobMetrics] = defaultdict(JobMetrics)
    for values, metric in await metrics(CREATION):
        found[values].created = metric
    for values, metric in await metrics(END, HAS_COMPLETED):
        found[values].completed = metric
    for values, metric in await metrics(LAST_UPDATE, HAS_FAILED):
        found[values].failed = metric
    return found


async def workers_by_type(store: Store, stretch: TimeSpan, *, tenant_id: str) -> Mapping[str, int]:
    """The number of workers by job type, for jobs that were updated in the span."""
    statistic = counts_of((TYPE,), Different(WORKER, (HAS_WORKER,)))
    found = await store.statistics(statistic, stretch.of(LAST_UPDATE), tenant_id=tenant_id)
    return {cast("str", values[0]): cast("int", values[-1]) for values in found}


async def errors_of_jobs(store: Store, stretch: TimeSpan, *, tenant_id: str) -> Sequence[ErrorOfJobs]:
    clauses = (HAS_FAILED, *stretch.of(LAST_UPDATE))
    return await store.statistics(ERRORS_OF_JOBS, clauses, tenant_id=tenant_id)


def counts_of(by: tuple[Group, ...], measure: Measure) -> Statistic[Values]:
    """A statistic that counts the jobs of each group and takes one more measure."""
    return Statistic(_values, Job, by, (Count(), measure))


def _metric(count: object, latest: object) -> Metric:
    return Metric(cast("int", count), cast("datetime", latest))


def _values(*values: object) -> Values:
    return cast("Values", values)
