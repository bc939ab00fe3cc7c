"""The first page: running instances, incidents, waiting tasks, and the throughput of the last day."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from aiohttp import web

from edge.console.visit import Visit
from server.platform.clock import SystemClock

_PROCESSES = 20
_ERRORS = 10
# Intervals begin at even hours: the store keeps the counts of those that have passed.
_INTERVAL = timedelta(hours=2)
_INTERVALS = 12


@dataclass(frozen=True, slots=True)
class Interval:
    """The number of instances that ended from `begin` until `end`."""

    begin: datetime
    end: datetime
    count: int


async def overview(visit: Visit) -> web.Response:
    ended = await _throughput(visit, SystemClock().now())
    processes, errors, running, stuck, tasks = await visit.together(
        visit.api(
            "GetProcessDefinitionInstanceStatistics",
            {
                "sort": [
                    {"field": "activeInstancesWithIncidentCount", "order": "DESC"},
                    {"field": "activeInstancesWithoutIncidentCount", "order": "DESC"},
                ],
                "page": {"limit": _PROCESSES},
            },
        ),
        visit.api("GetProcessInstanceStatisticsByError", {"page": {"limit": _ERRORS}}),
        visit.api("SearchProcessInstances", {"filter": {"state": "ACTIVE"}, "page": {"limit": 1}}),
        visit.api(
            "SearchProcessInstances",
            {"filter": {"state": "ACTIVE", "hasIncident": True}, "page": {"limit": 1}},
        ),
        visit.api("SearchUserTasks", {"filter": {"state": "CREATED"}, "page": {"limit": 1}}),
    )
    return visit.page(
        "overview.html",
        "overview",
        processes=processes["items"],
        errors=errors["items"],
        running=running["page"]["totalItems"],
        stuck=stuck["page"]["totalItems"],
        tasks=tasks["page"]["totalItems"],
        ended=ended,
    )


async def _throughput(visit: Visit, now: datetime) -> list[Interval]:
    """Return the intervals of a day until now, the present one last."""
    last = now.replace(hour=now.hour - now.hour % 2, minute=0, second=0, microsecond=0)
    begins = [last - number * _INTERVAL for number in reversed(range(_INTERVALS))]
    found = await visit.together(*(_ended(visit, begin, begin + _INTERVAL) for begin in begins))
    return [Interval(begin, begin + _INTERVAL, count) for begin, count in zip(begins, found, strict=True)]


async def _ended(visit: Visit, begin: datetime, end: datetime) -> int:
    period = {"$gte": begin.isoformat(), "$lt": end.isoformat()}
    found = await visit.api("SearchProcessInstances", {"filter": {"endDate": period}, "page": {"limit": 1}})
    return int(found["page"]["totalItems"])
