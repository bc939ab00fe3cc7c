"""User tasks, start forms and decisions in the console."""

import json
from typing import Any

import httpx

from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.console import HOSTILE, api, escaped, visit
from tests.server_process import ROOT, Addresses

PERSON = "admin@localhost"
DONE = "document.querySelector('.done')?.textContent"
PROBLEM = "document.querySelector('.problem')?.textContent"
ROWS = "[...document.querySelectorAll('tbody th')].map((each) => each.textContent.trim())"
FORM = {
    "type": "default",
    "components": [
        {"type": "textfield", "key": "person.name", "label": "Name", "validate": {"required": True}},
        {"type": "number", "key": "amount", "label": "Amount", "validate": {"max": 100}},
        {"type": "checkbox", "key": "isApproved", "label": "Approved"},
        {"type": "radio", "key": "speed", "label": "Speed", "values": [{"label": "Fast", "value": "fast"}]},
    ],
}
PROCESS = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="urn:test">
  <bpmn:process id="{id}" name="{name}" isExecutable="true">
    <bpmn:startEvent id="start"><bpmn:extensionElements><zeebe:formDefinition formId="{id}" /></bpmn:extensionElements>
      <bpmn:outgoing>a</bpmn:outgoing></bpmn:startEvent>
    <bpmn:sequenceFlow id="a" sourceRef="start" targetRef="check" />
    <bpmn:userTask id="check" name="{name}"><bpmn:extensionElements><zeebe:userTask />{form}
      <zeebe:assignmentDefinition {assignment} /></bpmn:extensionElements>
      <bpmn:incoming>a</bpmn:incoming></bpmn:userTask>
  </bpmn:process>
</bpmn:definitions>"""


def deployed(
    session: httpx.Client,
    process: str,
    *,
    name: str = "Check",
    form: dict[str, Any] = FORM,
    reference: str = "",
    assignment: str = f'candidateUsers="{PERSON}"',
) -> str:
    """Deploy a form and a process with a user task that has it, and return the key of the definition."""
    link = f'externalReference="{escaped(reference)}"' if reference else f'formId="{process}"'
    model = PROCESS.format(
        id=process, name=escaped(name), assignment=assignment, form=f"<zeebe:formDefinition {link} />"
    )
    files = [
        ("resources", ("check.form", json.dumps({"id": process, **form}).encode())),
        ("resources", ("check.bpmn", model.encode())),
    ]
    answer = session.post("/v2/deployments", files=files).raise_for_status().json()
    keys = [each["processDefinition"] for each in answer["deployments"] if each.get("processDefinition")]
    return str(keys[0]["processDefinitionKey"])


def task_of(session: httpx.Client, process: str, **variables: object) -> dict[str, Any]:
    """Start an instance and return its user task."""
    body = {"processDefinitionId": process, "variables": variables}
    begun = session.post("/v2/process-instances", json=body).raise_for_status().json()
    wanted = {"filter": {"processInstanceKey": begun["processInstanceKey"]}}
    (task,) = session.post("/v2/user-tasks/search", json=wanted).raise_for_status().json()["items"]
    return dict(task)


def variables_in(session: httpx.Client, instance: str) -> dict[str, Any]:
    wanted = {"filter": {"processInstanceKey": instance}}
    found = session.post("/v2/variables/search", json=wanted).raise_for_status().json()["items"]
    return {each["name"]: json.loads(each["value"]) for each in found}


async def submitted(page: Page, button: str) -> None:
    """Submit a form and wait for the page that follows."""
    await page.run("(window.isBefore = true)")
    await page.click(button)
    await page.until("!window.isBefore && !!document.querySelector('main')")


async def put(page: Page, label: str, value: str) -> None:
    """Set the value of the field with this label."""
    await page.run(
        f"([...document.querySelectorAll('#answers label')].find(({{textContent: text}}) => text.startsWith({label!r}))"
        f".control.value = {json.dumps(value)})"
    )


async def choose(page: Page, label: str) -> None:
    await page.run(
        f"[...document.querySelectorAll('#answers label')].find(({{textContent}}) => textContent === {label!r}).click()"
    )


async def test_a_task_is_claimed_and_completed_with_its_form(page: Page, addresses: Addresses) -> None:
    with api(addresses.http) as session:
        deployed(session, "claimed")
        task = task_of(session, "claimed", person={"name": "Ada", "age": 36}, amount=7)
    await visit(page, f"{addresses.http}/console/default/tasks/{task['userTaskKey']}")
    await submitted(page, "form[action$='/claim'] button")
    claimed = await page.run(DONE)
    await put(page, "Name", "Eve")
    await put(page, "Amount", "101")
    await choose(page, "Approved")
    await choose(page, "Fast")
    await page.run("document.getElementById('answers').noValidate = true")
    await submitted(page, "#answers button")
    problem, kept = (
        await page.run(PROBLEM),
        await page.run("document.querySelector('#answers input[type=text]').value"),
    )
    await put(page, "Amount", "99.50")
    await submitted(page, "#answers button")

    assert claimed == "The task is yours."
    assert problem == "Amount: expected at most 100, found 101"
    assert kept == "Eve"
    assert await page.run(DONE) == "The task is completed."
    with api(addresses.http) as session:
        found = session.get(f"/v2/user-tasks/{task['userTaskKey']}").json()
        variables = variables_in(session, task["processInstanceKey"])
    assert (found["state"], found["assignee"]) == ("COMPLETED", PERSON)
    assert variables == {
        "person": {"name": "Eve", "age": 36},
        "amount": 99.5,
        "isApproved": True,
        "speed": "fast",
    }


async def test_a_task_is_given_back_and_assigned(page: Page, addresses: Addresses) -> None:
    with api(addresses.http) as session:
        deployed(session, "returned", assignment=f'assignee="{PERSON}"')
        task = task_of(session, "returned")
    await visit(page, f"{addresses.http}/console/default/tasks/{task['userTaskKey']}")
    await submitted(page, "form[action$='/return'] button")
    returned = await page.run(DONE)
    await page.run("(document.getElementById('assignee').value = 'ada')")
    await submitted(page, "form[action$='/assignment'] button")

    assert (returned, await page.run(DONE)) == ("The task has no assignee any more.", "The task is assigned.")
    with api(addresses.http) as session:
        assert session.get(f"/v2/user-tasks/{task['userTaskKey']}").json()["assignee"] == "ada"


async def test_lists_have_the_tasks_of_the_person_those_offered_and_all(
    page: Page, addresses: Addresses
) -> None:
    with api(addresses.http) as session:
        for process, assignment in (
            ("list-mine", f'assignee="{PERSON}"'),
            ("list-offered", f'candidateUsers="{PERSON}, ada"'),
            ("list-others", 'candidateGroups="strangers"'),
        ):
            deployed(session, process, name=process, assignment=assignment)
            task_of(session, process)
    await visit(page, f"{addresses.http}/console/default/tasks")
    found = {}
    for name in ("mine", "offered", "groups", "all"):
        await page.goto(f"{addresses.http}/console/default/tasks?list={name}")
        found[name] = sorted(each for each in await page.run(ROWS) if each.startswith("list-"))

    assert found == {
        "mine": ["list-mine"],
        "offered": ["list-offered"],
        "groups": [],
        "all": ["list-mine", "list-offered", "list-others"],
    }


async def test_a_task_without_a_deployed_form_takes_json_and_links_web_addresses_only(
    page: Page, addresses: Addresses
) -> None:
    with api(addresses.http) as session:
        deployed(session, "external", reference="javascript:alert(1)")
        task = task_of(session, "external")
    await visit(page, f"{addresses.http}/console/default/tasks/{task['userTaskKey']}")
    links = await page.run("[...document.links].filter(({protocol}) => !protocol.startsWith('http')).length")
    await put(page, "Variables", "[1]")
    await submitted(page, "#answers button")
    problem = await page.run(PROBLEM)
    await put(page, "Variables", '{"a": 1.50}')
    await submitted(page, "#answers button")

    assert links == 0
    assert problem.startswith("variables: expected a JSON object")
    with api(addresses.http) as session:
        assert variables_in(session, task["processInstanceKey"]) == {"a": 1.5}


async def test_an_instance_is_started_with_the_start_form(page: Page, addresses: Addresses) -> None:
    with api(addresses.http) as session:
        key = deployed(session, "formed")
    await visit(page, f"{addresses.http}/console/default/processes/{key}/start")
    await put(page, "Name", "Ada")
    await put(page, "Business id", "order-7")
    await submitted(page, "#answers button")
    instance = (await page.run("location.pathname")).rpartition("/")[2]

    assert await page.run(DONE) == "The instance is started."
    with api(addresses.http) as session:
        found = session.get(f"/v2/process-instances/{instance}").json()
        variables = variables_in(session, instance)
    assert (found["processDefinitionId"], found["businessId"]) == ("formed", "order-7")
    assert variables == {"person": {"name": "Ada"}, "amount": None, "isApproved": False, "speed": None}


async def test_the_rules_of_an_evaluation_that_matched_are_marked(page: Page, addresses: Addresses) -> None:
    key = evaluated(addresses.http)
    await visit(page, f"{addresses.http}/console/default/evaluations/{key}")
    await page.until("!document.getElementById('rules').hidden")
    matched = await page.run(
        "[...document.querySelectorAll('tr.matched')].map((row) => row.innerText.trim().split(/\\s+/))"
    )

    assert matched == [["3", "✓", "matched", '"regular"', "2", "10"]]
    assert await page.run("document.querySelectorAll('#rules tbody tr').length") == 3


def evaluated(http: str) -> str:
    """Evaluate the example's decision and return the key of the evaluation of `discount`."""
    with api(http) as session:
        files = {"resources": ("pricing.dmn", (ROOT / "examples/pricing.dmn").read_bytes())}
        session.post("/v2/deployments", files=files).raise_for_status()
        wanted = {"decisionDefinitionId": "discount", "variables": {"customer": "regular", "amount": 120}}
        session.post("/v2/decision-definitions/evaluation", json=wanted).raise_for_status()
        found = session.post(
            "/v2/decision-instances/search", json={"filter": {"decisionDefinitionId": "discount"}}
        )
        return str(found.json()["items"][-1]["decisionEvaluationInstanceKey"])


async def test_pages_of_tasks_and_decisions_can_be_read_and_used_and_show_text_as_text(
    page: Page, addresses: Addresses
) -> None:
    evaluation = evaluated(addresses.http)
    components = [
        {"type": "text", "text": HOSTILE},
        {"type": "textfield", "key": HOSTILE.replace(".", ""), "label": HOSTILE, "description": HOSTILE},
        {"type": "select", "key": "a", "label": HOSTILE, "values": [HOSTILE] * 5},
        {"type": "checklist", "key": "b", "label": HOSTILE, "values": [{"label": HOSTILE, "value": HOSTILE}]},
        {"type": "filepicker", "key": "c", "label": HOSTILE},
    ]
    process = "looks"
    with api(addresses.http) as session:
        key = deployed(session, process, name=HOSTILE, form={"type": "default", "components": components})
        task = task_of(session, process, a=HOSTILE, c=HOSTILE)
        (decision,) = session.post(
            "/v2/decision-definitions/search",
            json={"filter": {"decisionDefinitionId": "discount", "isLatestVersion": True}},
        ).json()["items"]
    await visit(page, f"{addresses.http}/console/default/")
    found = {}
    for path in (
        "tasks?list=all",
        f"tasks/{task['userTaskKey']}",
        f"processes/{key}/start",
        "decisions",
        f"decisions/{decision['decisionDefinitionKey']}",
        f"evaluations/{evaluation}",
    ):
        await page.goto(f"{addresses.http}/console/default/{path}")
        found[path] = await faults(page)
        assert await page.run("document.querySelectorAll('img[onerror], svg[onload]').length") == 0
        assert not (await page.run("document.title")).startswith("run")

    assert {path: each for path, each in found.items() if each} == {}
