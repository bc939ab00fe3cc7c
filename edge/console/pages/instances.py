"""Process instances with their filters, and one process instance."""

from aiohttp import web

from edge.console.pages.live import instance_state
from edge.console.site import Form
from edge.console.visit import Visit

_LIMIT = 50
_ROWS = 100
_STATES = ("ACTIVE", "COMPLETED", "TERMINATED")


async def instances(visit: Visit) -> web.Response:
    """The instances of a filter, newest first."""
    asked = {name: visit.query.get(name, "").strip() for name in ("process", "state", "incident", "key")}
    conditions: dict[str, object] = {
        "processDefinitionId": asked["process"],
        "state": asked["state"] if asked["state"] in _STATES else "",
        "hasIncident": asked["incident"] == "yes",
        "processInstanceKey": asked["key"],
    }
    after = visit.query.get("after", "")
    found = await visit.api(
        "SearchProcessInstances",
        {
            "filter": {name: value for name, value in conditions.items() if value},
            "sort": [{"field": "startDate", "order": "DESC"}],
            "page": {"limit": _LIMIT, **({"after": after} if after else {})},
        },
    )
    return visit.page("instances.html", "instances", found=found, asked=asked, states=_STATES)


async def instance(visit: Visit) -> web.Response:
    """One instance: its elements, variables, incidents and jobs."""
    key = visit.request.match_info["key"]
    shown = await visit.api("GetProcessInstance", process_instance_key=key)
    of_it = {"filter": {"processInstanceKey": key}, "page": {"limit": _ROWS}}
    state, elements, variables, incidents, jobs = await visit.together(
        instance_state(visit, shown),
        visit.api("SearchElementInstances", of_it),
        visit.api("SearchVariables", of_it),
        visit.api("SearchProcessInstanceIncidents", {"page": {"limit": _ROWS}}, process_instance_key=key),
        visit.api("SearchJobs", of_it),
    )
    return visit.page(
        "instance.html",
        "instances",
        instance=shown,
        state=state,
        elements=elements,
        variables=variables,
        incidents=incidents["items"],
        jobs=jobs["items"],
    )


async def cancel(visit: Visit, _form: Form) -> web.Response:
    key = visit.request.match_info["key"]
    await visit.api("CancelProcessInstance", {}, process_instance_key=key)
    return visit.sent_to("instances", key, done="cancelled")


async def resolve(visit: Visit, form: Form) -> web.Response:
    """Resolve one incident of the instance."""
    await visit.api("ResolveIncident", {}, incident_key=form.get("incident", ""))
    return visit.sent_to("instances", visit.request.match_info["key"], done="resolved")
