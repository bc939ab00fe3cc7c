"""Migration of a process instance: a target definition is chosen, then a target for each active element."""

from typing import Any, Final

from aiohttp import web

from edge.console.pages.live import instance_state
from edge.console.site import Form
from edge.console.visit import REFUSED, Visit
from server.platform.errors import InvalidArgument
from server.platform.languages import marked

_VERSIONS: Final = 100


async def migration(visit: Visit) -> web.Response:
    return await _page(visit, visit.query.get("target", "").strip(), {})


async def migrate(visit: Visit, form: Form) -> web.Response:
    target = form.get("target", "")
    mapping = dict(zip(form.getall("source", []), map(str.strip, form.getall("element", [])), strict=False))
    instructions = [
        {"sourceElementId": source, "targetElementId": element}
        for source, element in mapping.items()
        if element
    ]
    try:
        if not instructions:
            raise InvalidArgument(marked("Enter a target for each active element."))
        body = {"targetProcessDefinitionKey": target, "mappingInstructions": instructions}
        await visit.api("MigrateProcessInstance", body, process_instance_key=visit.key)
    except REFUSED as error:
        return await _page(visit, target, mapping, error)
    return visit.sent_to("instances", visit.key, done="migrated")


async def _page(
    visit: Visit, target: str, mapping: dict[str, str], problem: Exception | None = None
) -> web.Response:
    instance = await visit.api("GetProcessInstance", process_instance_key=visit.key)
    wanted = {
        "filter": {"processDefinitionId": instance["processDefinitionId"], "state": "ACTIVE"},
        "sort": [{"field": "version", "order": "DESC"}],
        "page": {"limit": _VERSIONS},
    }
    state, versions = await visit.together(
        instance_state(visit, instance), visit.api("SearchProcessDefinitions", wanted)
    )
    definition = None
    try:
        definition = target and await visit.api("GetProcessDefinition", process_definition_key=target)
    except REFUSED as error:
        problem = problem or error
    rows: list[dict[str, Any]] = [
        {**each, "target": mapping.get(each["elementId"], each["elementId"])}
        for each in state["elements"]
        if each["active"] or each["incidents"]
    ]
    facts = {
        "instance": instance,
        "state": state,
        "versions": [
            each for each in versions["items"] if each["version"] != instance["processDefinitionVersion"]
        ],
        "target": target,
        "definition": definition,
        "elements": rows,
    }
    return visit.form_page("migration.html", "instances", problem, facts)
