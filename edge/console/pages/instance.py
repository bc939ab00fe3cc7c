"""One process instance: tree of elements, variables, incidents, jobs, tasks, calls; cancel it and resolve incidents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from edge.console.api import Document
from edge.console.pages.live import instance_state
from edge.console.site import Form
from edge.console.visit import Visit
from server.platform.errors import InvalidArgument

_ROWS: Final = 100
_TREE_ROWS: Final = 200
# Each scope that is opened is a search of its own.
_MOST_SCOPES: Final = 40
_SCOPES: Final = frozenset(
    {
        "SUB_PROCESS",
        "EVENT_SUB_PROCESS",
        "AD_HOC_SUB_PROCESS",
        "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
        "MULTI_INSTANCE_BODY",
    }
)
_MAX_RETRIES: Final = 1000


@dataclass(frozen=True, slots=True)
class TreeRow:
    """An element instance; `depth` is the number of scopes around it, besides the process instance."""

    depth: int
    element: Document


async def instance(visit: Visit) -> web.Response:
    key = visit.key
    shown = await visit.api("GetProcessInstance", process_instance_key=key)
    of_it = {"filter": {"processInstanceKey": key}, "page": {"limit": _ROWS}}
    latest = {**of_it, "sort": [{"field": "timestamp", "order": "DESC"}]}
    facts = await visit.named(
        state=instance_state(visit, shown),
        tree=element_tree(visit, key),
        elements=visit.api("SearchElementInstances", {**of_it, "page": {"limit": 1}}),
        variables=visit.api("SearchVariables", {**of_it, "sort": [{"field": "name"}]}),
        incidents=visit.api(
            "SearchProcessInstanceIncidents",
            {"page": {"limit": _ROWS}, "sort": [{"field": "state"}]},
            process_instance_key=key,
        ),
        jobs=visit.api("SearchJobs", of_it),
        tasks=visit.api("SearchUserTasks", of_it),
        subscriptions=visit.api("SearchMessageSubscriptions", of_it),
        callers=visit.api("GetProcessInstanceCallHierarchy", process_instance_key=key),
        timers=_timers(visit, shown),
        called=visit.api(
            "SearchProcessInstances", {"filter": {"parentProcessInstanceKey": key}, "page": {"limit": _ROWS}}
        ),
        decisions=visit.api("SearchDecisionInstances", of_it),
        audit=visit.optional(visit.api("SearchAuditLogs", latest)),
    )
    return visit.page("instance.html", "instances", instance=shown, names=_names(facts["tree"]), **facts)


async def cancel(visit: Visit, _form: Form) -> web.Response:
    await visit.api("CancelProcessInstance", {}, process_instance_key=visit.key)
    return visit.sent_to("instances", visit.key, done="cancelled")


async def resolve(visit: Visit, form: Form) -> web.Response:
    """Resolve one incident of the instance; a job without retries gets one first."""
    key = form.get("incident", "")
    incident = await visit.api("GetIncident", incident_key=key)
    if incident["errorType"] == "JOB_NO_RETRIES" and incident["jobKey"]:
        (job,) = (await visit.api("SearchJobs", {"filter": {"jobKey": incident["jobKey"]}}))["items"]
        if job["retries"] < 1:
            await visit.api("UpdateJob", {"changeset": {"retries": 1}}, job_key=incident["jobKey"])
    await visit.api("ResolveIncident", {}, incident_key=key)
    return visit.sent_to("instances", visit.key, done="resolved")


async def resolve_all(visit: Visit, _form: Form) -> web.Response:
    """Resolve all incidents of the instance by a batch operation, and show its progress."""
    begun = await visit.api("ResolveProcessInstanceIncidents", {}, process_instance_key=visit.key)
    return visit.sent_to("batches", begun["batchOperationKey"])


async def set_retries(visit: Visit, form: Form) -> web.Response:
    """Set the retries of a job of the instance."""
    text = form.get("retries", "").strip()
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) <= _MAX_RETRIES:
        raise InvalidArgument(f"retries: expected a number from 1 to {_MAX_RETRIES}")
    await visit.api("UpdateJob", {"changeset": {"retries": int(text)}}, job_key=form.get("job", ""))
    return visit.sent_to("instances", visit.key, done="retries")


async def fire_timer(visit: Visit, form: Form) -> web.Response:
    """Fire a timer of a test run before it is due."""
    await visit.api("FireTimer", None, process_instance_key=visit.key, timer_key=form.get("timer", ""))
    return visit.sent_to("instances", visit.key, done="fired")


async def _timers(visit: Visit, shown: Document) -> Document:
    """Return the timers that a running instance waits for, None where the mode has no list of them."""
    if shown["state"] != "ACTIVE":
        return None
    return await visit.optional(visit.api("ListTimers", process_instance_key=visit.key))


async def element_tree(visit: Visit, key: str) -> list[TreeRow]:
    """Return the element instances of a process instance, each after the scope around it; the first ones of many."""
    children: dict[str, list[Document]] = {}
    level = [key]
    while level and len(children) < _MOST_SCOPES:
        level = level[: _MOST_SCOPES - len(children)]
        found = await visit.together(*(_children(visit, scope) for scope in level))
        children.update(zip(level, found, strict=True))
        level = [each["elementInstanceKey"] for items in found for each in items if each["type"] in _SCOPES]
    return list(_rows(children, key, depth=0))[:_TREE_ROWS]


async def _children(visit: Visit, scope: str) -> list[Document]:
    wanted = {
        "filter": {"elementInstanceScopeKey": scope},
        "sort": [{"field": "elementInstanceKey"}],
        "page": {"limit": _TREE_ROWS},
    }
    return list((await visit.api("SearchElementInstances", wanted))["items"])


def _rows(children: Mapping[str, list[Document]], scope: str, *, depth: int) -> Iterator[TreeRow]:
    for element in children.get(scope, ()):
        yield TreeRow(depth, element)
        yield from _rows(children, element["elementInstanceKey"], depth=depth + 1)


def _names(tree: list[TreeRow]) -> dict[str, str]:
    """Return the names of element instances by their keys."""
    return {row.element["elementInstanceKey"]: row.element["elementName"] for row in tree}
