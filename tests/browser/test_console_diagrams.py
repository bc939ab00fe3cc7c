"""Diagrams of the console: counts of tokens, the path that was taken, and their renewal in an open page."""

from typing import Any

import httpx
import pytest

from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.console import HOSTILE, api, escaped, started, visit
from tests.server_process import ROOT, Addresses

VIEWER = ROOT / "edge/console/diagram/bpmn-navigated-viewer.production.min.js"
DRAWN = "'drawn' in (document.getElementById('model')?.dataset ?? {})"
FAILED = "document.querySelector('[data-when=failed]')?.hidden === false"
# Numbers on the elements: active, failed, completed.
TOKENS = """Object.fromEntries([...document.querySelectorAll('.djs-overlays')].map((overlays) => [
  overlays.dataset.containerId,
  [...overlays.querySelectorAll('.tokens > span')].map((part) => [part.className, parseInt(part.textContent)]),
]).filter(([, parts]) => parts.length))"""
TAKEN = "[...document.querySelectorAll('.djs-element.taken')].map((each) => each.dataset.elementId)"
POLLED = """performance.getEntriesByType('resource').filter(({name, initiatorType}) =>
  name.endsWith('/live') && initiatorType === 'fetch').length"""
INCIDENTS = "[...document.querySelectorAll('[data-part=incidents] pre')].map((each) => each.textContent)"
POSITION = "document.querySelector('.canvas .viewport').getAttribute('transform')"
# An observer of ours is notified after those of the page.
RESIZED = "new Promise((done) => new ResizeObserver(done).observe(document.querySelector('.canvas'))).then(() => null)"
COUNTS = """Object.fromEntries([...document.querySelectorAll('[data-part=elements] tbody tr')].map((row) => [
  row.dataset.element, [...row.querySelectorAll('td')].map((cell) => parseInt(cell.textContent)),
]))"""
MODEL = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC"
  xmlns:di="http://www.omg.org/spec/DD/20100524/DI" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  targetNamespace="urn:test">
  <bpmn:process id="{id}" name="{name}" isExecutable="true">
    <bpmn:startEvent id="start" name="{name}"><bpmn:outgoing>a</bpmn:outgoing></bpmn:startEvent>
    <bpmn:sequenceFlow id="a" sourceRef="start" targetRef="work" />
    <bpmn:serviceTask id="work" name="{name}">
      <bpmn:extensionElements><zeebe:taskDefinition type="{id}" /></bpmn:extensionElements>
      <bpmn:incoming>a</bpmn:incoming><bpmn:outgoing>b</bpmn:outgoing>
    </bpmn:serviceTask>
    <bpmn:sequenceFlow id="b" sourceRef="work" targetRef="end" />
    <bpmn:endEvent id="end"><bpmn:incoming>b</bpmn:incoming></bpmn:endEvent>
  </bpmn:process>
  <bpmndi:BPMNDiagram id="diagram"><bpmndi:BPMNPlane id="plane" bpmnElement="{id}">
    <bpmndi:BPMNShape id="s" bpmnElement="start"><dc:Bounds x="100" y="100" width="36" height="36" /></bpmndi:BPMNShape>
    <bpmndi:BPMNShape id="w" bpmnElement="work"><dc:Bounds x="200" y="78" width="100" height="80" /></bpmndi:BPMNShape>
    <bpmndi:BPMNShape id="e" bpmnElement="end"><dc:Bounds x="360" y="100" width="36" height="36" /></bpmndi:BPMNShape>
    <bpmndi:BPMNEdge id="ea" bpmnElement="a"><di:waypoint x="136" y="118" /><di:waypoint x="200" y="118" /></bpmndi:BPMNEdge>
    <bpmndi:BPMNEdge id="eb" bpmnElement="b"><di:waypoint x="300" y="118" /><di:waypoint x="360" y="118" /></bpmndi:BPMNEdge>
  </bpmndi:BPMNPlane></bpmndi:BPMNDiagram>
</bpmn:definitions>"""

needs_viewer = pytest.mark.skipif(
    not VIEWER.exists(), reason="make diagram was not run: npm fetches the viewer"
)


def drawn(http: str, process: str, name: str = "Drawn", instances: int = 1) -> list[dict[str, Any]]:
    """Deploy a process with a diagram and start instances of it, which wait at `work`."""
    with api(http) as session:
        files = {"resources": ("drawn.bpmn", MODEL.format(id=process, name=escaped(name)).encode())}
        session.post("/v2/deployments", files=files).raise_for_status()
        return [start(session, process) for _ in range(instances)]


def start(session: httpx.Client, process: str) -> dict[str, Any]:
    begun = session.post("/v2/process-instances", json={"processDefinitionId": process})
    return dict(begun.raise_for_status().json())


def job(session: httpx.Client, process: str) -> str:
    """Activate a job of the process and return its key."""
    wanted = {"type": process, "timeout": 60_000, "maxJobsToActivate": 1}
    (found,) = session.post("/v2/jobs/activation", json=wanted).raise_for_status().json()["jobs"]
    return str(found["jobKey"])


@needs_viewer
async def test_a_diagram_counts_tokens_and_the_open_page_renews_the_counts(
    page: Page, addresses: Addresses
) -> None:
    first, _ = drawn(addresses.http, "counted", instances=2)
    definition = first["processDefinitionKey"]
    await visit(page, f"{addresses.http}/console/default/processes/{definition}")
    await page.until(DRAWN)
    before = await page.run(TOKENS)
    await page.run("(window.isSamePage = true)")
    with api(addresses.http) as session:
        failure = {"retries": 0, "errorMessage": "no paper"}
        session.post(f"/v2/jobs/{job(session, 'counted')}/failure", json=failure).raise_for_status()
        session.post(f"/v2/jobs/{job(session, 'counted')}/completion", json={}).raise_for_status()
    await page.until(f"JSON.stringify({COUNTS}.end ?? []) === '[0,0,1,0]'")

    assert before == {"start": [["completed", 2]], "work": [["active", 2]]}
    assert await page.run(TOKENS) == {
        "start": [["completed", 2]],
        "work": [["stuck", 1]],
        "end": [["completed", 1]],
    }
    assert await page.run(COUNTS) == {"start": [0, 0, 2, 0], "work": [0, 1, 1, 0], "end": [0, 0, 1, 0]}
    assert await page.run("window.isSamePage")
    assert await page.run(POLLED) == 0


@needs_viewer
async def test_an_incident_appears_in_the_open_page_and_goes_when_it_is_resolved(
    page: Page, addresses: Addresses
) -> None:
    (instance,) = drawn(addresses.http, "failing")
    await visit(page, f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}")
    await page.until(DRAWN)
    await page.run("(window.isSamePage = true)")
    with api(addresses.http) as session:
        key = job(session, "failing")
        failure = {"retries": 0, "errorMessage": "no paper"}
        session.post(f"/v2/jobs/{key}/failure", json=failure).raise_for_status()
        await page.until(f"{INCIDENTS}.length === 1")
        shown, stuck = await page.run(INCIDENTS), await page.run(TOKENS)
        session.patch(f"/v2/jobs/{key}", json={"changeset": {"retries": 1}}).raise_for_status()
        wanted = {"filter": {"processInstanceKey": instance["processInstanceKey"]}}
        (incident,) = session.post("/v2/incidents/search", json=wanted).json()["items"]
        session.post(f"/v2/incidents/{incident['incidentKey']}/resolution").raise_for_status()
    await page.until(f"JSON.stringify({TOKENS}.work) === '[[\"active\",1]]'")

    assert (shown, stuck["work"]) == (["no paper"], [["stuck", 1]])
    assert await page.run("window.isSamePage")
    assert await page.run(POLLED) == 0


@needs_viewer
async def test_an_instance_shows_the_path_that_it_took(page: Page, addresses: Addresses) -> None:
    (instance,) = drawn(addresses.http, "walked")
    await visit(page, f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}")
    await page.until(DRAWN)
    before = await page.run(TAKEN)
    with api(addresses.http) as session:
        session.post(f"/v2/jobs/{job(session, 'walked')}/completion", json={}).raise_for_status()
    await page.until(f"{TAKEN}.includes('b')")

    assert before == ["a"]
    assert sorted(await page.run(TAKEN)) == ["a", "b"]
    await page.until("document.querySelector('.facts .state').textContent === 'Completed'")


@needs_viewer
async def test_a_diagram_fits_a_window_that_changes_unless_somebody_moved_it(
    page: Page, addresses: Addresses
) -> None:
    (instance,) = drawn(addresses.http, "fitted")
    await page.emulate(width=1000, scheme="light")
    await visit(page, f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}")
    await page.until(DRAWN)
    wide = await page.run(POSITION)
    await page.emulate(width=320, scheme="light")
    await page.until(f"{POSITION} !== {wide!r}")
    await page.click("[data-zoom=in]")
    moved = await page.run(POSITION)
    await page.emulate(width=1000, scheme="light")
    await page.run(RESIZED)

    assert await page.run(POSITION) == moved


@needs_viewer
async def test_text_of_a_model_is_text_in_its_diagram(page: Page, addresses: Addresses) -> None:
    (instance,) = drawn(addresses.http, "hostile", name=HOSTILE)
    await visit(page, f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}")
    await page.until(DRAWN)

    assert await page.run("document.querySelectorAll('img[onerror], svg[onload]').length") == 0
    assert HOSTILE in await page.run("document.querySelector('h1').textContent")
    assert not (await page.run("document.title")).startswith("run")


@needs_viewer
async def test_a_model_without_a_diagram_says_so(page: Page, addresses: Addresses) -> None:
    instance = started(addresses.http, "bare", name="Bare")
    await visit(page, f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}")
    await page.until(FAILED)

    assert await page.run("document.querySelector('.canvas').hidden")


@needs_viewer
async def test_pages_with_a_diagram_can_be_read_and_used(page: Page, addresses: Addresses) -> None:
    (instance,) = drawn(addresses.http, "seen")
    await visit(page, f"{addresses.http}/console/default/")
    found = {}
    for path in (
        f"processes/{instance['processDefinitionKey']}",
        f"instances/{instance['processInstanceKey']}",
    ):
        await page.goto(f"{addresses.http}/console/default/{path}")
        await page.until(DRAWN)
        found[path] = await faults(page)

    assert {path: each for path, each in found.items() if each} == {}


async def test_a_page_without_scripts_has_the_counts_in_its_table(page: Page, addresses: Addresses) -> None:
    (instance,) = drawn(addresses.http, "tabled")
    await visit(page, f"{addresses.http}/console/default/")
    await page.without_scripts()
    await page.goto(f"{addresses.http}/console/default/processes/{instance['processDefinitionKey']}")

    assert await page.run(COUNTS) == {"start": [0, 0, 1, 0], "work": [1, 0, 0, 0]}


async def test_documents_of_a_page_are_sent_once_and_to_their_tenant_alone(
    page: Page, addresses: Addresses
) -> None:
    (instance,) = drawn(addresses.http, "polled")
    definition, key = instance["processDefinitionKey"], instance["processInstanceKey"]
    await visit(page, f"{addresses.http}/console/default/")
    paths = (f"processes/{definition}/live", f"processes/{definition}/model", f"instances/{key}/live")
    statuses = {}
    for path in paths:
        for tenant in ("default", "other"):
            script = f"""(async () => {{
              const first = await fetch('/console/{tenant}/{path}', {{cache: 'no-store'}});
              const headers = {{'If-None-Match': first.headers.get('ETag') ?? ''}};
              const again = await fetch('/console/{tenant}/{path}', {{cache: 'no-store', headers}});
              return [first.status, again.status];
            }})()"""
            statuses[path, tenant] = await page.run(script)

    assert statuses == {
        (path, tenant): answers
        for path in paths
        for tenant, answers in (("default", [200, 304]), ("other", [404, 404]))
    }


async def test_a_model_is_saved_and_never_shown_by_a_browser(page: Page, addresses: Addresses) -> None:
    (instance,) = drawn(addresses.http, "saved")
    address = f"/console/default/processes/{instance['processDefinitionKey']}/model"
    await visit(page, f"{addresses.http}/console/default/")
    names = ["Content-Security-Policy", "Content-Disposition", "X-Content-Type-Options"]
    headers = await page.run(
        f"fetch('{address}').then(({{headers}}) => {names}.map((name) => headers.get(name)))"
    )

    assert headers[0] == "sandbox; default-src 'none'"
    assert headers[1].startswith('attachment; filename="drawn.bpmn"')
    assert headers[2] == "nosniff"


async def test_the_policy_of_pages_permits_nothing_unsafe(page: Page, addresses: Addresses) -> None:
    (instance,) = drawn(addresses.http, "strict")
    await visit(page, f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}")
    policy = await page.run(
        "fetch(location.href).then(({headers}) => headers.get('Content-Security-Policy'))"
    )

    assert "unsafe" not in policy
    assert "'strict-dynamic'" not in policy
    assert policy.startswith("default-src 'none'; script-src 'nonce-")


async def pick(page: Page, element_id: str) -> None:
    """Click on an element of the diagram; elements of SVG have no `click`."""
    hit = f"document.querySelector('[data-element-id={element_id}] .djs-hit')"
    await page.run(f"{hit}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))")


@needs_viewer
async def test_elements_of_a_modification_are_chosen_on_the_diagram(page: Page, addresses: Addresses) -> None:
    (instance,) = drawn(addresses.http, "chosen")
    await visit(
        page, f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}/modification"
    )
    await page.until(DRAWN)
    await pick(page, "start")
    activated = await page.run("document.getElementById('element-1').value")
    await page.run("(document.getElementById('element-1').value = '')")
    await pick(page, "work")
    await pick(page, "end")
    move = await page.run("['action', 'target'].map((each) => document.getElementsByName(each)[0].value)")
    await page.click("main form p button")
    await page.until("!!document.querySelector('.done')")

    assert activated == "start"
    assert move == ["move", "end"]
    assert await page.run("document.querySelector('[data-part=facts] .state').textContent") == "Completed"
