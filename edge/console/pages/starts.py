"""Start of a process instance with the start form of the process, or with variables as JSON."""

from typing import Any, Final

from aiohttp import web
from multidict import MultiDict, MultiDictProxy

from edge.console.api import Document
from edge.console.form_answers import answered, variables_of
from edge.console.form_fields import fields_of
from edge.console.json_text import object_of
from edge.console.site import Form
from edge.console.visit import REFUSED, Visit
from server.platform.errors import InvalidState
from server.platform.languages import marked

# For instances that users start to try a model. Searches with `excludedTags` leave them out.
TEST_RUN: Final = "console-test-run"


async def start_page(visit: Visit) -> web.Response:
    return await _page(visit, await _form_of(visit))


async def start(visit: Visit, form: Form) -> web.Response:
    deployed = await _form_of(visit)
    try:
        variables = _answers(deployed, form)
        body = {
            "processDefinitionKey": visit.key,
            "variables": variables,
            "businessId": form.get("business", "").strip() or None,
            "tags": [TEST_RUN] if form.get("run", "") == "test" else [],
        }
        begun = await visit.api("CreateProcessInstance", body)
    except REFUSED as error:
        return await _page(visit, deployed, form, problem=error)
    return visit.sent_to("instances", begun["processInstanceKey"], done="started")


def _answers(deployed: Document, form: Form) -> Any:
    if deployed is None:
        return object_of(form.get("variables", ""), "variables")
    if form.get("form", "") != deployed["formKey"]:
        raise InvalidState(
            marked(
                "A newer version of the form was deployed in the meantime. Check what you entered, and start again."
            )
        )
    return variables_of(answered(fields_of(deployed["schema"], {}), form), {})


async def _page(
    visit: Visit, deployed: Document, form: Form | None = None, *, problem: Exception | None = None
) -> web.Response:
    definition = await visit.api("GetProcessDefinition", process_definition_key=visit.key)
    fields = [] if deployed is None else fields_of(deployed["schema"], {})
    sent = MultiDictProxy(MultiDict[str]()) if form is None else form
    facts = {
        "definition": definition,
        "deployed": deployed,
        "fields": fields if form is None else answered(fields, form),
        "text": sent.get("variables", ""),
        "business": sent.get("business", ""),
        "is_test": sent.get("run", visit.query.get("run", "")) == "test",
        "tag": TEST_RUN,
    }
    return visit.form_page("start.html", "processes", problem, facts)


async def _form_of(visit: Visit) -> Document:
    """Return the start form of the process, None without one."""
    return await visit.api("GetStartProcessForm", process_definition_key=visit.key)
