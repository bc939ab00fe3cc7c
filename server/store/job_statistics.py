"""Statistics over jobs: how many were created, completed and failed in a stretch of time, in groups.

They come from the rows of jobs, which show what happened last: a job counts as failed when it ever failed or threw an
error, at the time of its last update. Each of the three looks at another time of the rows, and so reads rows of its own:
all that a tenant has in that stretch.
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
    """From its begin on, until before its end; of jobs that meet all conditions."""

    begin: datetime
    end: datetime
    conditions: tuple[Condition, ...] = ()

    def of(self, field: Field) -> tuple[Condition, ...]:
        """Jobs with this time in the stretch."""
        begins = Condition(field, Operator.GTE, self.begin)
        return (*self.conditions, begins, Condition(field, Operator.LT, self.end))


@dataclass(frozen=True, slots=True)
class Metric:
    """`latest` is the time of the last job that was counted."""

    count: int = 0
    latest: datetime | None = None


@dataclass(slots=True)
class JobMetrics:
    """Of one group of jobs."""

    created: Metric = Metric()
    completed: Metric = Metric()
    failed: Metric = Metric()


@dataclass(frozen=True, slots=True)
class ErrorOfJobs:
    """The code is None where a job failed without throwing an error. `workers` had such a job last."""

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
"""What jobs are grouped by, given the field with the time that is looked at."""

HAS_COMPLETED = equals(JOBS, "state", JobState.COMPLETED)


async def job_metrics(
    store: Store, stretch: TimeSpan, by: By, *, tenant_id: str
) -> Mapping[Values, JobMetrics]:
    """By what the jobs of a group have in common."""

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
    """How many workers had a job of each type that was updated in the stretch."""
    statistic = counts_of((TYPE,), Different(WORKER, (HAS_WORKER,)))
    found = await store.statistics(statistic, stretch.of(LAST_UPDATE), tenant_id=tenant_id)
    return {cast("str", values[0]): cast("int", values[-1]) for values in found}


async def errors_of_jobs(store: Store, stretch: TimeSpan, *, tenant_id: str) -> Sequence[ErrorOfJobs]:
    clauses = (HAS_FAILED, *stretch.of(LAST_UPDATE))
    return await store.statistics(ERRORS_OF_JOBS, clauses, tenant_id=tenant_id)


def counts_of(by: tuple[Group, ...], measure: Measure) -> Statistic[Values]:
    """Count the jobs of each group, and measure something more."""
    return Statistic(_values, Job, by, (Count(), measure))


def _metric(count: object, latest: object) -> Metric:
    return Metric(cast("int", count), cast("datetime", latest))


def _values(*values: object) -> Values:
    return cast("Values", values)
