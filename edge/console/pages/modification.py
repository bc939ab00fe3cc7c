"""Modification of a process instance: activate, terminate and move tokens by the elements they are at."""

from typing import Any, Final

from aiohttp import web

from edge.console.json_text import object_of
from edge.console.pages.live import instance_state
from edge.console.site import Form
from edge.console.visit import REFUSED, Visit
from server.platform.errors import InvalidArgument
from server.platform.languages import marked

# Rows for elements to activate; another modification has more.
_ACTIVATIONS: Final = 3
_NOTHING: Final = marked("Choose something to do: activate an element, or move or terminate tokens.")

Row = dict[str, str]


async def modification(visit: Visit) -> web.Response:
    return await _page(visit, [], [])


async def modify(visit: Visit, form: Form) -> web.Response:
    tokens = _rows(form, "source", "action", "target")
    activations = _rows(form, "element", "variables")
    try:
        await visit.api("ModifyProcessInstance", _body(tokens, activations), process_instance_key=visit.key)
    except REFUSED as error:
        return await _page(visit, tokens, activations, error)
    return visit.sent_to("instances", visit.key, done="modified")


def _rows(form: Form, *names: str) -> list[Row]:
    """Return the fields that come once for each row of a table, row by row."""
    columns = [[value.strip() for value in form.getall(name, [])] for name in names]
    return [dict(zip(names, values, strict=False)) for values in zip(*columns, strict=False)]


def _body(tokens: list[Row], activations: list[Row]) -> dict[str, Any]:
    moves, terminations = [], []
    for row in tokens:
        if row["action"] == "terminate":
            terminations.append({"elementId": row["source"]})
        elif row["action"] == "move":
            if not row["target"]:
                raise InvalidArgument(f"{row['source']}: enter the element that its tokens move to")
            moves.append(_move(row))
    begun = [_activation(row) for row in activations if row["element"]]
    if not (moves or terminations or begun):
        raise InvalidArgument(_NOTHING)
    return {
        "activateInstructions": begun,
        "moveInstructions": moves,
        "terminateInstructions": terminations,
    }


def _move(row: Row) -> dict[str, Any]:
    return {
        "sourceElementInstruction": {"sourceType": "byId", "sourceElementId": row["source"]},
        "targetElementId": row["target"],
        "ancestorScopeInstruction": {"ancestorScopeType": "inferred"},
    }


def _activation(row: Row) -> dict[str, Any]:
    variables = object_of(row["variables"], f"variables of {row['element']}")
    instructions = [{"variables": variables}] if variables else []
    return {"elementId": row["element"], "variableInstructions": instructions}


async def _page(
    visit: Visit, tokens: list[Row], activations: list[Row], problem: Exception | None = None
) -> web.Response:
    instance = await visit.api("GetProcessInstance", process_instance_key=visit.key)
    state = await instance_state(visit, instance)
    chosen = {row["source"]: row for row in tokens}
    nothing = {"action": "", "target": ""}
    rows = [
        {**nothing, **chosen.get(each["elementId"], {}), **each}
        for each in state["elements"]
        if each["active"] or each["incidents"]
    ]
    empty = [{"element": "", "variables": ""} for _ in range(_ACTIVATIONS)]
    facts = {
        "instance": instance,
        "state": state,
        "tokens": rows,
        "activations": (activations + empty)[:_ACTIVATIONS],
    }
    return visit.form_page("modification.html", "instances", problem, facts)
