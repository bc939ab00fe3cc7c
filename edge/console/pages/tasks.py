"""User tasks: lists of a person, of their groups and of all; claim one, give it back, complete it with its form."""

from typing import Any, Final

from aiohttp import web

from edge.console.api import Document
from edge.console.form_answers import answered, variables_of
from edge.console.form_fields import fields_of, names_of
from edge.console.json_text import exact, object_of
from edge.console.site import Form
from edge.console.visit import REFUSED, Visit

_LIMIT: Final = 50
_VARIABLES: Final = 100
_LISTS: Final = ("mine", "groups", "offered", "all")
# Each is the order of an index, so the first page of a long list is read without sorting the list.
URGENT_FIRST: Final = (
    {"field": "priority", "order": "DESC"},
    {"field": "creationDate", "order": "ASC"},
)
LATEST_ENDED_FIRST: Final = ({"field": "completionDate", "order": "DESC"},)


async def tasks(visit: Visit) -> web.Response:
    """One of the lists, the most urgent open task first, or the task that was completed last."""
    name = visit.query.get("list", "mine")
    name = name if name in _LISTS else "mine"
    has_ended = visit.query.get("state", "") == "COMPLETED"
    conditions = {
        "mine": {"assignee": visit.me["username"]},
        "groups": {"candidateGroup": {"$in": visit.me["groups"]}},
        "offered": {"candidateUser": visit.me["username"]},
        "all": {},
    }[name]
    wanted = {
        "filter": {"state": "COMPLETED" if has_ended else "CREATED", **conditions},
        "sort": LATEST_ENDED_FIRST if has_ended else URGENT_FIRST,
        "page": visit.page_of(_LIMIT),
    }
    has_none = name == "groups" and not visit.me["groups"]
    found: Document = {"items": [], "page": {"totalItems": 0, "endCursor": None}}
    if not has_none:
        found = await visit.api("SearchUserTasks", wanted)
    return visit.page(
        "tasks.html",
        "tasks",
        found=found,
        chosen=name,
        lists=_LISTS,
        has_ended=has_ended,
        has_more=await visit.has_more("SearchUserTasks", wanted, found),
    )


async def task(visit: Visit) -> web.Response:
    return await _page(visit, await _get(visit))


async def claim(visit: Visit, _form: Form) -> web.Response:
    """Assign the task to the person, if nobody else has it."""
    body = {"assignee": visit.me["username"], "allowOverride": False}
    await visit.api("AssignUserTask", body, user_task_key=visit.key)
    return visit.sent_to("tasks", visit.key, done="claimed")


async def assign(visit: Visit, form: Form) -> web.Response:
    """Assign the task to a person, even if somebody else has it."""
    shown = await _get(visit)
    body = {"assignee": form.get("assignee", "").strip(), "allowOverride": True}
    try:
        await visit.api("AssignUserTask", body, user_task_key=visit.key)
    except REFUSED as error:
        return await _page(visit, shown, problem=error)
    return visit.sent_to("tasks", visit.key, done="assigned")


async def give_back(visit: Visit, _form: Form) -> web.Response:
    await visit.api("UnassignUserTask", user_task_key=visit.key)
    return visit.sent_to("tasks", visit.key, done="returned")


async def complete(visit: Visit, form: Form) -> web.Response:
    """Complete the task with the variables that its form or the person makes."""
    shown = await _get(visit)
    try:
        variables = await _answers(visit, shown, form)
        await visit.api("CompleteUserTask", {"variables": variables}, user_task_key=visit.key)
    except REFUSED as error:
        return await _page(visit, shown, form, problem=error)
    return visit.sent_to("tasks", done="completed")


async def _answers(visit: Visit, shown: Document, form: Form) -> Any:
    deployed = await _form_of(visit, shown)
    if deployed is None:
        return object_of(form.get("variables", ""), "variables")
    known = await _known(visit, names_of(deployed["schema"]))
    return variables_of(answered(fields_of(deployed["schema"], known), form), known)


async def _page(
    visit: Visit, shown: Document, form: Form | None = None, *, problem: Exception | None = None
) -> web.Response:
    deployed = await _form_of(visit, shown)
    fields = []
    if deployed is not None:
        fields = fields_of(deployed["schema"], await _known(visit, names_of(deployed["schema"])))
        fields = fields if form is None else answered(fields, form)
    variables = await visit.api(
        "SearchUserTaskEffectiveVariables",
        {"page": {"limit": _VARIABLES}, "sort": [{"field": "name"}]},
        user_task_key=visit.key,
    )
    reference = shown["externalFormReference"] or ""
    facts = {
        "task": shown,
        "deployed": deployed,
        "fields": fields,
        "text": form.get("variables", "") if form is not None else "",
        "variables": variables,
        # Another URL scheme would run in this page.
        "link": reference if reference.startswith(("https://", "http://")) else "",
        "reference": reference,
        "is_mine": shown["assignee"] == visit.me["username"],
    }
    return visit.form_page("task.html", "tasks", problem, facts)


async def _get(visit: Visit) -> Document:
    return await visit.api("GetUserTask", user_task_key=visit.key)


async def _form_of(visit: Visit, shown: Document) -> Document:
    """Return the deployed form of a task, None without one."""
    return await visit.api("GetUserTaskForm", user_task_key=visit.key) if shown["formKey"] else None


async def _known(visit: Visit, names: list[str]) -> dict[str, Any]:
    """Return the complete variables of these names that the task sees."""
    if not names:
        return {}
    wanted = {"filter": {"name": {"$in": names}}, "page": {"limit": len(names)}}
    found = await visit.api("SearchUserTaskEffectiveVariables", wanted, user_task_key=visit.key)
    whole = await visit.together(*(_whole(visit, each) for each in found["items"]))
    return {each["name"]: exact(each["value"]) for each in whole}


async def _whole(visit: Visit, variable: Document) -> Document:
    if not variable["isTruncated"]:
        return variable
    return await visit.api("GetVariable", variable_key=variable["variableKey"])
