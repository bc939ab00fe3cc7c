"""Process instances in the console: variables, incidents, modification, migration, filters and batch operations."""

import json
import re
from typing import Any

import httpx
import pytest

from edge.console.routes import CHANGES, PAGES
from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.console import HOSTILE, api, escaped, visit
from tests.server_process import Addresses

PROCESS = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="urn:test">
  <bpmn:process id="{id}" name="{name}" isExecutable="true">
    <bpmn:startEvent id="start"><bpmn:outgoing>a</bpmn:outgoing></bpmn:startEvent>
    <bpmn:sequenceFlow id="a" sourceRef="start" targetRef="outer" />
    <bpmn:subProcess id="outer" name="Outer">
      <bpmn:incoming>a</bpmn:incoming><bpmn:outgoing>b</bpmn:outgoing>
      <bpmn:startEvent id="inside"><bpmn:outgoing>c</bpmn:outgoing></bpmn:startEvent>
      <bpmn:sequenceFlow id="c" sourceRef="inside" targetRef="pack" />
      <bpmn:serviceTask id="pack" name="{name}">
        <bpmn:extensionElements><zeebe:taskDefinition type="{id}" /></bpmn:extensionElements>
        <bpmn:incoming>c</bpmn:incoming>
      </bpmn:serviceTask>
    </bpmn:subProcess>
    <bpmn:sequenceFlow id="b" sourceRef="outer" targetRef="ship" />
    <bpmn:serviceTask id="ship" name="Ship">
      <bpmn:extensionElements><zeebe:taskDefinition type="{id}-ship" /></bpmn:extensionElements>
      <bpmn:incoming>b</bpmn:incoming>
    </bpmn:serviceTask>
  </bpmn:process>
</bpmn:definitions>"""
DONE = "document.querySelector('.done')?.textContent"
PROBLEM = "document.querySelector('.problem')?.textContent"
KEYS = "[...document.querySelectorAll('tbody th code')].map((each) => each.textContent)"
ELEMENTS = """[...document.querySelectorAll('[data-part=elements] tbody tr')].map((row) =>
  [row.dataset.element, row.querySelector('.state').textContent])"""
VARIABLES = """Object.fromEntries([...document.querySelectorAll('[data-part=variables] tbody tr')].map((row) =>
  [row.querySelector('th').textContent, [...row.querySelectorAll('td')].slice(0, 2).map((cell) => cell.textContent)]))"""


def deployed(session: httpx.Client, process: str, name: str = "Packing") -> str:
    """Deploy a process and return the key of its definition."""
    files = {"resources": ("packing.bpmn", PROCESS.format(id=process, name=escaped(name)).encode())}
    answer = session.post("/v2/deployments", files=files).raise_for_status().json()
    return str(answer["deployments"][0]["processDefinition"]["processDefinitionKey"])


def begun(http: str, process: str, name: str = "Packing", **variables: object) -> str:
    """Deploy a process, start it and return the key of the instance, which waits at `pack`."""
    with api(http) as session:
        deployed(session, process, name)
        return start(session, process, **variables)


def start(session: httpx.Client, process: str, **variables: object) -> str:
    body = {"processDefinitionId": process, "variables": variables}
    answer = session.post("/v2/process-instances", json=body).raise_for_status().json()
    return str(answer["processInstanceKey"])


def active(session: httpx.Client, key: str) -> list[str]:
    wanted = {"filter": {"processInstanceKey": key, "state": "ACTIVE"}}
    found = session.post("/v2/element-instances/search", json=wanted).raise_for_status().json()
    return sorted(each["elementId"] for each in found["items"])


def failed(session: httpx.Client, process: str, message: str) -> None:
    """Fail one job of the process without retries."""
    wanted = {"type": process, "timeout": 60_000, "maxJobsToActivate": 1}
    (job,) = session.post("/v2/jobs/activation", json=wanted).raise_for_status().json()["jobs"]
    failure = {"retries": 0, "errorMessage": message}
    session.post(f"/v2/jobs/{job['jobKey']}/failure", json=failure).raise_for_status()


async def submitted(page: Page, button: str) -> None:
    """Submit a form and wait for the page that follows."""
    await page.run("(window.isBefore = true)")
    await page.click(button)
    await page.until("!window.isBefore && !!document.querySelector('main')")


async def put(page: Page, selector: str, value: str) -> None:
    """Set the value of a field."""
    await page.run(f"(document.querySelector({selector!r}).value = {json.dumps(value)})")


async def test_elements_stand_below_the_scope_around_them(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "nested")
    await visit(page, f"{addresses.http}/console/default/instances/{key}")

    assert await page.run(ELEMENTS) == [
        ["start", "Completed"],
        ["outer", "Active"],
        ["inside", "Completed"],
        ["pack", "Active"],
    ]
    assert await page.run(
        "[...document.querySelectorAll('[data-element] th')].map(({className}) => className)"
    ) == [
        "depth-0",
        "depth-0",
        "depth-1",
        "depth-1",
    ]


async def test_a_variable_is_changed_and_no_json_is_refused_with_the_place(
    page: Page, addresses: Addresses
) -> None:
    key = begun(addresses.http, "edited", amount={"net": 1})
    await visit(page, f"{addresses.http}/console/default/instances/{key}")
    await page.click("[data-part=variables] tbody a")
    await page.until("!!document.getElementById('value')")
    before = await page.run("document.getElementById('value').value")
    await put(page, "#value", '{"net": }')
    await submitted(page, ".stack button")
    problem, kept = await page.run(PROBLEM), await page.run("document.getElementById('value').value")
    await put(page, "#value", '{"net": 12.50}')
    await submitted(page, ".stack button")

    assert json.loads(before) == {"net": 1}
    assert "line 1, column 9" in problem
    assert kept == '{"net": }'
    assert await page.run(DONE) == "The variable is saved."
    assert (await page.run(VARIABLES))["amount"] == ['{"net":12.50}', "Instance"]


async def test_a_variable_is_added_in_the_scope_that_was_chosen(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "scoped")
    await visit(page, f"{addresses.http}/console/default/instances/{key}/variables/new")
    await page.fill("#name", "seal")
    option = "[...document.querySelectorAll('#scope option')].find(({text}) => text.startsWith('Outer'))"
    await page.run(f"({option}.selected = true)")
    await put(page, "#value", '"red"')
    await submitted(page, ".stack button")

    assert await page.run(VARIABLES) == {"seal": ['"red"', "Outer"]}


async def test_tokens_are_moved_and_elements_activated(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "moved")
    await visit(page, f"{addresses.http}/console/default/instances/{key}/modification")
    await submitted(page, "form[method=post][action$=modification] button")
    nothing = await page.run(PROBLEM)
    row = "[data-element=pack]"
    await put(page, f"{row} select", "move")
    await put(page, f"{row} input[name=target]", "ship")
    await put(page, "#element-1", "ship")
    await put(page, "#variables-1", '{"express": true}')
    await submitted(page, "form[method=post][action$=modification] button")

    assert nothing.startswith("Choose something to do")
    assert await page.run(DONE) == "The instance is modified."
    with api(addresses.http) as session:
        assert active(session, key) == ["ship", "ship"]
    assert "express" in await page.run(VARIABLES)


async def test_a_refused_modification_changes_nothing_and_keeps_what_was_typed(
    page: Page, addresses: Addresses
) -> None:
    key = begun(addresses.http, "unmoved")
    await visit(page, f"{addresses.http}/console/default/instances/{key}/modification")
    await put(page, "#element-1", "nowhere")
    await submitted(page, "form[method=post][action$=modification] button")

    assert "nowhere" in await page.run(PROBLEM)
    assert await page.run("document.getElementById('element-1').value") == "nowhere"
    with api(addresses.http) as session:
        assert active(session, key) == ["outer", "pack"]


async def test_an_instance_is_migrated_to_another_version(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "migrated")
    with api(addresses.http) as session:
        newer = deployed(session, "migrated", "Packing again")
    await visit(page, f"{addresses.http}/console/default/instances/{key}/migration")
    await submitted(page, "form.filter button")
    await submitted(page, "form[method=post][action$=migration] button")

    assert await page.run(DONE) == "The instance is migrated."
    with api(addresses.http) as session:
        assert session.get(f"/v2/process-instances/{key}").json()["processDefinitionKey"] == newer


async def test_an_incident_of_a_job_is_resolved_with_one_retry(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "retried")
    with api(addresses.http) as session:
        failed(session, "retried", "no paper")
    await visit(page, f"{addresses.http}/console/default/instances/{key}")
    cause = await page.run("document.querySelector('.cards .fine').textContent")
    await submitted(page, ".cards button")

    assert cause.startswith("A worker failed the job")
    assert await page.run(DONE) == "The incident is resolved."
    with api(addresses.http) as session:
        (job,) = session.post("/v2/jobs/search", json={"filter": {"processInstanceKey": key}}).json()["items"]
    assert job["retries"] == 1
    assert await page.run("document.querySelector('.facts .state').textContent") == "Active"


async def test_a_list_that_is_cut_says_so(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "long", **{f"v{number:03}": number for number in range(103)})
    await visit(page, f"{addresses.http}/console/default/instances/{key}")

    assert len(await page.run(VARIABLES)) == 100
    assert "The first 100 of 103 variables." in await page.run(
        "document.querySelector('[data-part=variables]').innerText"
    )


async def test_a_tree_has_two_hundred_rows_and_says_how_many_there_are(
    page: Page, addresses: Addresses
) -> None:
    loop = """<bpmn:multiInstanceLoopCharacteristics><bpmn:extensionElements>
      <zeebe:loopCharacteristics inputCollection="=for i in 1..210 return i" /></bpmn:extensionElements>
      </bpmn:multiInstanceLoopCharacteristics></bpmn:serviceTask>
    </bpmn:subProcess>"""
    model = PROCESS.replace("</bpmn:serviceTask>\n    </bpmn:subProcess>", loop)
    with api(addresses.http) as session:
        files = {"resources": ("wide.bpmn", model.format(id="wide", name="Wide").encode())}
        session.post("/v2/deployments", files=files).raise_for_status()
        key = start(session, "wide")
    await visit(page, f"{addresses.http}/console/default/instances/{key}")

    assert len(await page.run(ELEMENTS)) == 200
    # Start event, sub-process, its start event, the body and its instances.
    assert "The first 200 of 214 elements." in await page.run(
        "document.querySelector('[data-part=elements]').innerText"
    )


@pytest.mark.parametrize(
    ("path", "fields", "problem"),
    [
        ("variables", {"name": "x" * 1025, "value": "1"}, "name: expected 1 to 1024 characters"),
        ("variables", {"name": " ", "value": "1"}, "name: expected 1 to 1024 characters"),
        ("job-retries", {"retries": "0"}, "retries: expected a number from 1 to 1000"),
        ("job-retries", {"retries": "1001"}, "retries: expected a number from 1 to 1000"),
        ("job-retries", {"retries": "²"}, "retries: expected a number from 1 to 1000"),
        ("modification", {f"x{number}": "" for number in range(4096)}, "at most 4096 parameters"),
    ],
)
async def test_a_form_beyond_its_bounds_is_refused(
    page: Page, addresses: Addresses, path: str, fields: dict[str, str], problem: str
) -> None:
    key = begun(addresses.http, "bounded")
    await visit(page, f"{addresses.http}/console/default/instances/{key}")
    script = """(async () => {
      const csrf_token = document.querySelector('[name=csrf_token]').value;
      const body = new URLSearchParams({csrf_token, scope: %s, ...%s});
      const response = await fetch(`${location.pathname}/%s`, {method: 'POST', body});
      return [response.status, await response.text()];
    })()"""
    status, text = await page.run(script % (json.dumps(key), json.dumps(fields), path))

    assert status == 400
    assert problem in text


async def test_filters_find_instances(page: Page, addresses: Addresses) -> None:
    with api(addresses.http) as session:
        deployed(session, "filtered")
        red, blue, stuck = (start(session, "filtered", colour=each) for each in ("red", "blue", "red"))
        session.post(f"/v2/process-instances/{red}/cancellation", json={}).raise_for_status()
        wanted = {"type": "filtered", "timeout": 60_000, "maxJobsToActivate": 9}
        jobs = session.post("/v2/jobs/activation", json=wanted).json()["jobs"]
        job = next(each for each in jobs if each["processInstanceKey"] == stuck)
        failure = {"retries": 0, "errorMessage": "100* no paper"}
        session.post(f"/v2/jobs/{job['jobKey']}/failure", json=failure).raise_for_status()
        day = session.get(f"/v2/process-instances/{red}").json()["startDate"][:10]
    await visit(page, f"{addresses.http}/console/default/instances")
    found = {}
    for query in (
        "variable=colour&value=red",
        'variable=colour&value="blue"',
        "error=100* no",
        "error=100?",
        "element=pack&state=ACTIVE",
        f"from={day}&to={day}",
        "to=2001-01-01",
        f"key={red}, {blue}",
        "incident=yes",
        "version=2",
    ):
        await page.goto(f"{addresses.http}/console/default/instances?process=filtered&{query}")
        found[query] = sorted(await page.run(KEYS))
    await page.goto(f"{addresses.http}/console/default/instances?version=two")
    problem = await page.run(PROBLEM)

    assert found == {
        "variable=colour&value=red": sorted([red, stuck]),
        'variable=colour&value="blue"': [blue],
        "error=100* no": [stuck],
        "error=100?": [],
        "element=pack&state=ACTIVE": sorted([blue, stuck]),
        f"from={day}&to={day}": sorted([red, blue, stuck]),
        "to=2001-01-01": [],
        f"key={red}, {blue}": sorted([red, blue]),
        "incident=yes": [stuck],
        "version=2": [],
    }
    assert problem == "version: expected a whole number, found 'two'"


async def test_a_search_is_saved_for_its_user_found_again_and_removed(
    page: Page, addresses: Addresses
) -> None:
    names = "[...document.querySelectorAll('#searches a')].map((each) => each.textContent)"
    console = f"{addresses.http}/console/default"
    await visit(page, f"{console}/instances")
    offered_without_filter = await page.run("!document.getElementById('searches').hidden")
    await page.goto(f"{console}/instances?process=saved&state=ACTIVE&version=&after=")
    await page.fill("#search-name", HOSTILE[:60])
    await page.click("#searches form button")
    await page.until("!!document.querySelector('#searches a')")
    saved = await page.run(names)
    is_offered = await page.run("!document.querySelector('#searches form').hidden")
    await page.goto(f"{console}/instances")
    await page.click("#searches a")
    await page.until("location.search !== ''")
    address = await page.run("location.search")
    await page.goto(f"{addresses.http}/console/other/instances")
    elsewhere = await page.run(names)
    await page.goto(f"{console}/instances")
    await page.click("#searches li button")
    await page.until("document.getElementById('searches').hidden")

    assert (offered_without_filter, is_offered) == (False, False)
    assert saved == [HOSTILE[:60].strip()]
    assert address == "?process=saved&state=ACTIVE"
    assert elsewhere == []
    assert await page.run(names) == []


@pytest.mark.parametrize(("scope", "canceled"), [("chosen", 2), ("all", 3)])
async def test_many_instances_are_cancelled_after_a_preview_with_progress(
    page: Page, addresses: Addresses, scope: str, canceled: int
) -> None:
    process = f"many-{scope}"
    with api(addresses.http) as session:
        deployed(session, process)
        keys = [start(session, process) for _ in range(3)]
    await visit(page, f"{addresses.http}/console/default/instances?process={process}")
    for key in keys[:2]:
        await page.click(f"#chosen-{key}")
    await put(page, "#scope", scope)
    await put(page, "#action", "cancel")
    await submitted(page, "#batch-actions button")
    previewed = await page.run("document.getElementById('items').textContent")
    listed = await page.run("[...document.querySelectorAll('main li code')].map((each) => each.textContent)")
    with api(addresses.http) as session:
        assert {session.get(f"/v2/process-instances/{key}").json()["state"] for key in keys} == {"ACTIVE"}
    await submitted(page, "main button.danger")
    await page.until("document.querySelector('.facts .state').textContent === 'Completed'")
    facts = await page.run(
        "[...document.querySelectorAll('.facts dd')].slice(1, 4).map((each) => each.textContent)"
    )

    assert (previewed, sorted(listed)) == (str(canceled), sorted(keys[:canceled]))
    assert facts == [str(canceled), str(canceled), "0"]
    with api(addresses.http) as session:
        states = [session.get(f"/v2/process-instances/{key}").json()["state"] for key in keys]
    assert sorted(states) == sorted(["TERMINATED"] * canceled + ["ACTIVE"] * (3 - canceled))


async def test_variables_are_erased_after_a_preview(page: Page, addresses: Addresses) -> None:
    with api(addresses.http) as session:
        deployed(session, "erased")
        key = start(session, "erased", name="Ada", size=1)
    await visit(page, f"{addresses.http}/console/default/instances?process=erased")
    await put(page, "#scope", "all")
    await put(page, "#action", "erase")
    await put(page, "#erased", "name, other")
    await submitted(page, "#batch-actions button")
    await submitted(page, "main button.danger")
    await page.until("document.querySelector('.facts .state').textContent === 'Completed'")

    with api(addresses.http) as session:
        found = session.post("/v2/variables/search", json={"filter": {"processInstanceKey": key}}).json()
    assert {each["name"]: each["value"] for each in found["items"]} == {"name": "null", "size": "1"}


async def test_a_batch_without_instances_or_action_is_refused(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "unbatched")
    await visit(page, f"{addresses.http}/console/default/instances?process=unbatched")
    await put(page, "#action", "cancel")
    await submitted(page, "#batch-actions button")

    assert await page.run(PROBLEM) == "Choose at least one instance, or all that match the filter."
    with api(addresses.http) as session:
        assert active(session, key) == ["outer", "pack"]


async def test_no_form_is_accepted_without_the_token_of_the_session(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "guarded")
    await visit(page, f"{addresses.http}/console/default/")
    script = """Promise.all(%s.map((path) => fetch(`/console/default/${path}`, {method: 'POST', body: 'action=cancel',
      headers: {'Content-Type': 'application/x-www-form-urlencoded'}}).then(({status}) => status)))"""
    paths = [re.sub(r"\{\w+\}", key, path) for path in CHANGES]
    statuses = await page.run(script % json.dumps(paths))

    assert dict(zip(paths, statuses, strict=True)) == dict.fromkeys(paths, 403)


async def test_no_page_shows_a_key_of_another_tenant(page: Page, addresses: Addresses) -> None:
    key = begun(addresses.http, "hidden")
    await visit(page, f"{addresses.http}/console/default/")
    paths = [re.sub(r"\{\w+\}", key, path) for path in PAGES if "{" in path]
    script = "Promise.all(%s.map((path) => fetch(`/console/other/${path}`).then(({status}) => status)))"
    statuses = await page.run(script % json.dumps(paths))

    assert dict(zip(paths, statuses, strict=True)) == dict.fromkeys(paths, 404)


async def test_pages_of_an_instance_can_be_read_and_used_and_show_text_as_text(
    page: Page, addresses: Addresses
) -> None:
    variables: dict[str, Any] = {HOSTILE: HOSTILE}
    with api(addresses.http) as session:
        newer = deployed(session, "plain", f"Plain {HOSTILE}")
        key = start(session, "plain", **variables)
        failed(session, "plain", HOSTILE)
        of_it = {"filter": {"processInstanceKey": key}}
        (variable,) = session.post("/v2/variables/search", json=of_it).json()["items"]
    await visit(page, f"{addresses.http}/console/default/")
    found = {}
    for path in (
        f"instances/{key}",
        f"instances/{key}/variables/new",
        f"instances/{key}/variables/{variable['variableKey']}",
        f"instances/{key}/modification",
        f"instances/{key}/migration?target={newer}",
        f"instances?process={HOSTILE}",
        "batches",
    ):
        await page.goto(f"{addresses.http}/console/default/{path}")
        found[path] = await faults(page)
        assert await page.run("document.querySelectorAll('img[onerror], svg[onload]').length") == 0
        assert not (await page.run("document.title")).startswith("run")

    assert {path: each for path, each in found.items() if each} == {}
