"""Process instances with their filters, and batch operations on those that a person chose."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final

import orjson
from aiohttp import web

from edge.console.site import Form
from edge.console.visit import REFUSED, Visit
from server.platform.errors import InvalidArgument
from server.platform.languages import marked

_LIMIT: Final = 100
_STATES: Final = ("ACTIVE", "COMPLETED", "TERMINATED")
NAMES: Final = (
    *("process", "version", "key", "state", "incident", "business", "error", "element", "from", "to"),
    *("variable", "value", "parent"),
)
# The operation of each action on many instances, and its type.
_BATCHES: Final = {
    "cancel": ("CancelProcessInstancesBatchOperation", "CANCEL_PROCESS_INSTANCE"),
    "resolve": ("ResolveIncidentsBatchOperation", "RESOLVE_INCIDENT"),
    "delete": ("DeleteProcessInstancesBatchOperation", "DELETE_PROCESS_INSTANCE"),
    "erase": ("EraseVariablesBatchOperation", "ERASE_VARIABLES"),
}

# The default list; an index of the stores has this order.
LATEST_FIRST: Final = ({"field": "startDate", "order": "DESC"},)

Asked = dict[str, str]


async def instances(visit: Visit) -> web.Response:
    """The instances of a filter, newest first."""
    return await _page(visit, _asked(visit.query))


async def begin_batch(visit: Visit, form: Form) -> web.Response:
    """Begin a batch operation on the chosen instances, or on all that match the filter, and show its progress.

    The first time the page shows the number of items; then `confirmed` has this number, and more are not accepted.
    """
    asked = _asked(form)
    try:
        action = _BATCHES.get(form.get("action", ""))
        if action is None:
            raise InvalidArgument(marked("Choose an action."))
        operation, kind = action
        wanted: dict[str, Any] = {"filter": _chosen(form, asked)}
        confirmed = _number(form.get("confirmed", ""), "confirmed")
        if confirmed is None:
            preview = await visit.api("PreviewBatchOperation", {"batchOperationType": kind, **wanted})
            return visit.page(
                "batch_preview.html", "instances", preview=preview, kind=kind, asked=asked, form=form
            )
        if kind == "ERASE_VARIABLES":
            wanted["variableNames"] = _names(form)
        begun = await visit.api(operation, {**wanted, "atMost": confirmed})
    except REFUSED as error:
        return await _page(visit, asked, error)
    return visit.sent_to("batches", begun["batchOperationKey"])


def _names(form: Form) -> list[str]:
    return form.get("erased", "").replace(",", " ").split()


def _chosen(form: Form, asked: Asked) -> dict[str, Any]:
    if form.get("scope", "") == "all":
        return conditions(asked)
    keys = form.getall("chosen", [])
    if not keys:
        raise InvalidArgument(marked("Choose at least one instance, or all that match the filter."))
    return {"processInstanceKey": {"$in": keys}}


async def _page(visit: Visit, asked: Asked, problem: Exception | None = None) -> web.Response:
    wanted: dict[str, Any] = {
        "sort": [*LATEST_FIRST],
        "page": visit.page_of(_LIMIT),
    }
    has_more = False
    found: dict[str, Any] = {
        "items": [],
        "page": {"totalItems": 0, "hasMoreTotalItems": False, "endCursor": None},
    }
    try:
        wanted["filter"] = conditions(asked)
        found = await visit.api.page("SearchProcessInstances", wanted)
        has_more = await visit.has_more("SearchProcessInstances", wanted, found)
    except REFUSED as error:
        problem = problem or error
    is_extended = any(
        asked[name] for name in ("business", "error", "element", "from", "to", "variable", "parent")
    )
    facts = {
        "found": found,
        "asked": asked,
        "states": _STATES,
        "has_more": has_more,
        "is_extended": is_extended,
    }
    return visit.form_page("instances.html", "instances", problem, facts)


def conditions(asked: Asked) -> dict[str, Any]:
    """Return the filter of a search for the fields of the page; raises InvalidArgument."""
    keys = asked["key"].replace(",", " ").split()
    found: dict[str, Any] = {
        "processDefinitionId": _text(asked["process"]),
        "processDefinitionVersion": _number(asked["version"], "version"),
        "processInstanceKey": {"$in": keys} if keys else None,
        "state": asked["state"] if asked["state"] in _STATES else None,
        "hasIncident": True if asked["incident"] == "yes" else None,
        "businessId": _text(asked["business"]),
        "errorMessage": {"$like": f"*{_literal(asked['error'])}*"} if asked["error"] else None,
        "elementId": asked["element"],
        "elementInstanceState": "ACTIVE" if asked["element"] and asked["state"] == "ACTIVE" else None,
        "parentProcessInstanceKey": asked["parent"],
        "startDate": _days(asked["from"], asked["to"]),
        "variables": _variables(asked["variable"], asked["value"]),
    }
    return {name: value for name, value in found.items() if value}


def _asked(fields: Mapping[str, str]) -> Asked:
    return {name: fields.get(name, "").strip() for name in NAMES}


def _text(text: str) -> str | dict[str, str]:
    """Return the condition on a text; a star stands for any characters."""
    return {"$like": text} if "*" in text else text


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("?", "\\?")


def _number(text: str, name: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise InvalidArgument(f"{name}: expected a whole number, found {text!r}")
    return int(text)


def _days(first: str, last: str) -> dict[str, str]:
    """Return the condition on a time for days in UTC, both included."""
    try:
        begin = {"$gte": f"{date.fromisoformat(first)}T00:00:00Z"} if first else {}
        end = {"$lt": f"{date.fromisoformat(last) + timedelta(days=1)}T00:00:00Z"} if last else {}
    except (ValueError, OverflowError) as error:
        raise InvalidArgument("expected a day as in 2026-01-31") from error
    return {**begin, **end}


def _variables(name: str, value: str) -> list[dict[str, str]]:
    if not name:
        return []
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        # Users type a text without quotes.
        value = orjson.dumps(value).decode()
    return [{"name": name, "value": value}]
