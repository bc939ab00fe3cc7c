"""The first page: running instances, incidents, waiting tasks, and the throughput of the last day."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from aiohttp import web

from edge.console.visit import Visit
from server.platform.clock import SystemClock

_PROCESSES = 20
_ERRORS = 10
# Intervals begin at even hours.
_INTERVAL = timedelta(hours=2)
_INTERVALS = 12


@dataclass(frozen=True, slots=True)
class Interval:
    """The number of instances that ended in an interval; `has_more` says that they are counted up to it only."""

    begin: datetime
    count: int
    has_more: bool


async def overview(visit: Visit) -> web.Response:
    processes, errors, running, stuck, tasks, ended = await visit.together(
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
        _throughput(visit, SystemClock().now()),
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
    # One after another: a page takes few of the connections that all callers share.
    return [await _ended(visit, begin) for begin in begins]


async def _ended(visit: Visit, begin: datetime) -> Interval:
    period = {"$gte": begin.isoformat(), "$lt": (begin + _INTERVAL).isoformat()}
    found = await visit.api.page(
        "SearchProcessInstances", {"filter": {"endDate": period}, "page": {"limit": 1}}
    )
    return Interval(begin, int(found["page"]["totalItems"]), found["page"]["hasMoreTotalItems"])
