"""Variables of a process instance: one is read whole and changed, or a new one is added in a scope."""

from typing import Final

from aiohttp import web

from edge.console.json_text import readable, value_of
from edge.console.site import Form
from edge.console.visit import REFUSED, Visit
from server.platform.errors import InvalidArgument

_MAX_NAME: Final = 1024
_SCOPES: Final = 200


async def variable(visit: Visit) -> web.Response:
    """One variable with its whole value."""
    found = await visit.api("GetVariable", variable_key=visit.request.match_info["variable"])
    return await _page(visit, found["name"], found["scopeKey"], readable(found["value"]), is_new=False)


async def new_variable(visit: Visit) -> web.Response:
    return await _page(visit, "", visit.key, "", is_new=True)


async def set_variable(visit: Visit, form: Form) -> web.Response:
    """Set a variable in exactly the scope that the user chose."""
    name, scope = form.get("name", "").strip(), form.get("scope", "")
    text, is_new = form.get("value", ""), form.get("is_new", "") == "yes"
    try:
        if not name or len(name) > _MAX_NAME:
            raise InvalidArgument(f"name: expected 1 to {_MAX_NAME} characters")
        body = {"variables": {name: value_of(text, "value")}, "local": True}
        await visit.api("CreateElementInstanceVariables", body, element_instance_key=scope)
    except REFUSED as error:
        return await _page(visit, name, scope, text, is_new=is_new, problem=error)
    return visit.sent_to("instances", visit.key, done="variable")


async def _page(
    visit: Visit, name: str, scope: str, text: str, *, is_new: bool, problem: Exception | None = None
) -> web.Response:
    wanted = {
        "filter": {"processInstanceKey": visit.key, "state": "ACTIVE"},
        "page": {"limit": _SCOPES},
    }
    instance, scopes = await visit.together(
        visit.api("GetProcessInstance", process_instance_key=visit.key),
        visit.api("SearchElementInstances", wanted),
    )
    facts = {
        "name": name,
        "scope": scope,
        "value": text,
        "is_new": is_new,
        "instance": instance,
        "scopes": scopes,
    }
    return visit.form_page("variable.html", "instances", problem, facts)
