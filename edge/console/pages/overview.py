"""The first page: the number of running instances, the incidents, and the tasks that wait for users."""

from aiohttp import web

from edge.console.visit import Visit

_PROCESSES = 20
_ERRORS = 10


async def overview(visit: Visit) -> web.Response:
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
    )
