"""Statistics of jobs over a stretch of time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol, cast

from google.protobuf.timestamp_pb2 import Timestamp

from gnomon.engine.v1 import job_service_pb2 as pb
from gnomon.query.v1.filter_pb2 import StringFilter
from server.bpmn import timer_values
from server.platform.call import Call
from server.platform.errors import InvalidArgument
from server.platform.query import (
    MOST_GROUPS,
    Condition,
    Field,
    Interval,
    Searchable,
    SortKey,
    equals,
    operators,
)
from server.rpc.reads import tell_page
from server.rpc.statistics import page_of, place_of
from server.store.job_statistics import (
    HAS_WORKER,
    TYPE,
    WORKER,
    JobMetrics,
    Metric,
    TimeSpan,
    errors_of_jobs,
    job_metrics,
    workers_by_type,
)
from server.store.ports import Store
from server.store.searchables import JOBS

LONGEST_STRETCH = timedelta(days=31)
"""Longest period of a statistic, which reads every job in it."""
FINEST_RESOLUTION = timedelta(seconds=1)
_RESOLUTIONS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 360, 1440))
_USUAL_INTERVALS = 100


@dataclass(frozen=True, slots=True)
class _Named:
    """The metrics of a job type or a worker."""

    place: int
    name: str
    metrics: JobMetrics
    workers: int = 0


@dataclass(frozen=True, slots=True)
class _At:
    time: datetime
    metrics: JobMetrics


@dataclass(frozen=True, slots=True)
class _Error:
    place: int
    error_code: str
    error_message: str
    workers: int


_NAMED = Searchable.of(_Named, "place")
_BY_NAME = (SortKey(_NAMED.fields["name"]),)
_BY_TIME = Searchable.of(_At, "time")
_ERRORS = Searchable.of(_Error, "place")
_BY_ERROR = tuple(SortKey(_ERRORS.fields[name]) for name in ("error_code", "error_message"))


async def of_all(
    store: Store, request: pb.GetGlobalJobStatisticsRequest, call: Call
) -> pb.GetGlobalJobStatisticsResponse:
    is_of_type = (equals(JOBS, "type", request.job_type),) if request.HasField("job_type") else ()
    stretch = _stretch(getattr(request, "from"), request.to, is_of_type)
    found = await job_metrics(store, stretch, lambda _: (), tenant_id=call.tenant_id)
    metrics = found.get((), JobMetrics())
    return pb.GetGlobalJobStatisticsResponse(
        created=_status(metrics.created), completed=_status(metrics.completed), failed=_status(metrics.failed)
    )


async def by_type(
    store: Store, request: pb.GetJobTypeStatisticsRequest, call: Call
) -> pb.GetJobTypeStatisticsResponse:
    wanted = _conditions(TYPE, request.filter.job_type, "filter.jobType")
    stretch = _stretch(getattr(request.filter, "from"), request.filter.to, wanted)
    found = await job_metrics(store, stretch, lambda _: (TYPE,), tenant_id=call.tenant_id)
    workers = await workers_by_type(store, stretch, tenant_id=call.tenant_id)
    types = ((cast("str", values[0]), metrics) for values, metrics in found.items())
    rows = [_Named(place_of(name), name, metrics, workers.get(name, 0)) for name, metrics in types]
    page = page_of(_NAMED, rows, request, default=_BY_NAME)
    response = pb.GetJobTypeStatisticsResponse()
    tell_page(response.page, page)
    for row in page.items:
        _fill(response.items.add(job_type=row.name, workers=row.workers), row.metrics)
    return response


async def by_worker(
    store: Store, request: pb.GetJobWorkerStatisticsRequest, call: Call
) -> pb.GetJobWorkerStatisticsResponse:
    wanted = (equals(JOBS, "type", request.filter.job_type), HAS_WORKER)
    stretch = _stretch(getattr(request.filter, "from"), request.filter.to, wanted)
    found = await job_metrics(store, stretch, lambda _: (WORKER,), tenant_id=call.tenant_id)
    workers = ((cast("str", values[0]), metrics) for values, metrics in found.items())
    rows = [_Named(place_of(name), name, metrics) for name, metrics in workers]
    page = page_of(_NAMED, rows, request, default=_BY_NAME)
    response = pb.GetJobWorkerStatisticsResponse()
    tell_page(response.page, page)
    for row in page.items:
        _fill(response.items.add(worker=row.name), row.metrics)
    return response


async def by_time(
    store: Store, request: pb.GetJobTimeSeriesStatisticsRequest, call: Call
) -> pb.GetJobTimeSeriesStatisticsResponse:
    """Statistics by intervals; intervals without jobs are left out."""
    is_of_type = (equals(JOBS, "type", request.filter.job_type),)
    stretch = _stretch(getattr(request.filter, "from"), request.filter.to, is_of_type)
    seconds = _resolution(request.filter, stretch) // timedelta(seconds=1)

    def intervals(time: Field) -> tuple[Interval, ...]:
        return (Interval(time, seconds),)

    found = await job_metrics(store, stretch, intervals, tenant_id=call.tenant_id)
    rows = [_At(cast("datetime", values[0]), metrics) for values, metrics in found.items()]
    page = page_of(_BY_TIME, rows, request)
    response = pb.GetJobTimeSeriesStatisticsResponse()
    tell_page(response.page, page)
    for row in page.items:
        _fill(response.items.add(time=_timestamp(row.time)), row.metrics)
    return response


async def by_error(
    store: Store, request: pb.GetJobErrorStatisticsRequest, call: Call
) -> pb.GetJobErrorStatisticsResponse:
    wanted = request.filter
    conditions = (
        equals(JOBS, "type", wanted.job_type),
        *_conditions(JOBS.fields["error_code"], wanted.error_code, "filter.errorCode"),
        *_conditions(JOBS.fields["error_message"], wanted.error_message, "filter.errorMessage"),
    )
    stretch = _stretch(getattr(wanted, "from"), wanted.to, conditions)
    found = await errors_of_jobs(store, stretch, tenant_id=call.tenant_id)
    rows = [
        _Error(
            place_of(error.error_code, error.error_message),
            error.error_code or "",
            error.error_message,
            error.workers,
        )
        for error in found
    ]
    page = page_of(_ERRORS, rows, request, default=_BY_ERROR)
    response = pb.GetJobErrorStatisticsResponse()
    tell_page(response.page, page)
    for row in page.items:
        response.items.add(error_code=row.error_code, error_message=row.error_message, workers=row.workers)
    return response


def _stretch(begin: Timestamp, end: Timestamp, conditions: Iterable[Condition]) -> TimeSpan:
    """The time span of a request; raises InvalidArgument."""
    stretch = TimeSpan(_instant(begin, "from"), _instant(end, "to"), tuple(conditions))
    if not timedelta() < stretch.end - stretch.begin <= LONGEST_STRETCH:
        raise InvalidArgument(f"to: expected a time after from, by at most {LONGEST_STRETCH.days} days")
    return stretch


def _instant(moment: Timestamp, name: str) -> datetime:
    try:
        return moment.ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"{name}: expected a date-time of the years 1 to 9999") from error


def _conditions(field: Field, wanted: StringFilter, place: str) -> Iterator[Condition]:
    return operators(field, wanted, place)


def _resolution(wanted: pb.JobTimeSeriesStatisticsFilter, stretch: TimeSpan) -> timedelta:
    """The length of the intervals; raises InvalidArgument."""
    length = stretch.end - stretch.begin
    if not wanted.HasField("resolution"):
        fitting = (each for each in _RESOLUTIONS if length <= each * _USUAL_INTERVALS)
        return next(fitting, _RESOLUTIONS[-1])
    try:
        duration = timer_values.duration(wanted.resolution)
    except timer_values.MalformedTimer as error:
        raise InvalidArgument(f"filter.resolution: {error}") from error
    resolution = duration.time
    is_whole = not duration.months and not resolution % FINEST_RESOLUTION
    if not is_whole or not FINEST_RESOLUTION <= resolution <= LONGEST_STRETCH:
        raise InvalidArgument(
            f"filter.resolution: expected whole seconds, and at most {LONGEST_STRETCH.days} days"
        )
    if length / resolution > MOST_GROUPS - 1:
        raise InvalidArgument(f"filter.resolution: expected fewer than {MOST_GROUPS} intervals")
    return resolution


class _Item(Protocol):
    @property
    def created(self) -> pb.StatusMetric: ...
    @property
    def completed(self) -> pb.StatusMetric: ...
    @property
    def failed(self) -> pb.StatusMetric: ...


def _fill(item: _Item, metrics: JobMetrics) -> None:
    item.created.CopyFrom(_status(metrics.created))
    item.completed.CopyFrom(_status(metrics.completed))
    item.failed.CopyFrom(_status(metrics.failed))


def _status(metric: Metric) -> pb.StatusMetric:
    latest = None if metric.latest is None else _timestamp(metric.latest)
    return pb.StatusMetric(count=metric.count, last_updated_at=latest)


def _timestamp(instant: datetime) -> Timestamp:
    moment = Timestamp()
    moment.FromDatetime(instant)
    return moment
