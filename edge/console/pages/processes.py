"""Deployed processes, and one process definition with its diagram, its counts and its versions."""

from aiohttp import web

from edge.console.pages.live import process_state
from edge.console.visit import Visit

_LIMIT = 100


async def processes(visit: Visit) -> web.Response:
    """The newest version of each process."""
    wanted = {
        "filter": {"isLatestVersion": True},
        "sort": [{"field": "name"}],
        "page": visit.page_of(_LIMIT),
    }
    found = await visit.api("SearchProcessDefinitions", wanted)
    has_more = await visit.has_more("SearchProcessDefinitions", wanted, found)
    return visit.page("processes.html", "processes", found=found, has_more=has_more)


async def process(visit: Visit) -> web.Response:
    """One version of a process."""
    key = visit.key
    definition = await visit.api("GetProcessDefinition", process_definition_key=key)
    versions, state = await visit.together(
        visit.api(
            "GetProcessDefinitionInstanceVersionStatistics",
            {
                "filter": {"processDefinitionId": definition["processDefinitionId"]},
                "page": {"limit": _LIMIT},
            },
        ),
        process_state(visit, key),
    )
    return visit.page(
        "process.html",
        "processes",
        definition=definition,
        versions=versions["items"],
        elements=state["elements"],
        state=state,
    )
