"""Editors of the console: a person draws, sees what is wrong, mends it, deploys it and tries it."""

import json
from typing import Any

import pytest

from edge.console.editor_words import words_in
from server.platform.languages import ENGLISH, languages
from tests.browser.accessibility import ABSENT, HAS_NPM, axe, violations
from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.console import HOSTILE, api, escaped, visit
from tests.browser.test_console_diagrams import MODEL
from tests.server_process import ROOT, Addresses

EDITORS = ROOT / "edge/console/editors/LICENSE"
READY = "'ready' in (document.getElementById('editor')?.dataset ?? {})"
FINDINGS = """[...document.querySelectorAll('#findings li')].map((row) =>
  [row.dataset.rule, row.querySelector('.state').textContent])"""
MARKED = "[...document.querySelectorAll('.finding')].map((each) => each.className)"
DRAWN = "[...document.querySelectorAll('.djs-shape')].map((each) => each.dataset.elementId)"
DRAFTS = "Object.keys(sessionStorage).filter((name) => name.startsWith('gnomon-draft '))"
KEPT_FILE = f"JSON.parse(sessionStorage.getItem({DRAFTS}[0]) ?? '{{}}').file"
CHANGES_DURING_DEPLOYMENT = """
const fetched = globalThis.fetch;
globalThis.fetch = async (path, init) => {
  const response = await fetched(path, init);
  if (path === "/v2/deployments") {
    const file = document.getElementById("file");
    file.value = "renamed.bpmn";
    file.dispatchEvent(new Event("input"));
  }
  return response;
}"""
FOCUS = "document.querySelector('.djs-container svg').focus()"
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
MOST_PRESSES = 20
CHOSEN = "document.getElementById('elements').selectedOptions[0]?.textContent ?? ''"

needs_editors = pytest.mark.skipif(
    not EDITORS.exists(), reason="make editors was not run: npm fetches the editors"
)


async def edit(page: Page, addresses: Addresses, path: str, tenant: str = "default") -> None:
    await page.emulate(width=1300, scheme="light")
    await visit(page, f"{addresses.http}/console/{tenant}/{path}")
    await page.until(READY)


async def choose(page: Page, text: str) -> None:
    """Choose the element whose option has the text."""
    await page.run(f"""(() => {{
      const list = document.getElementById('elements');
      list.value = [...list.options].find((option) => option.textContent.includes({text!r})).value;
      list.dispatchEvent(new Event('change'));
    }})()""")


async def append(page: Page, what: str) -> None:
    """Append an element to the chosen one, by keyboard, without a name."""
    await page.run(FOCUS)
    await page.press("a")
    await page.until("document.activeElement.matches('.djs-popup input')")
    await page.type(what)
    chosen = "document.querySelector('.djs-popup .entry.selected')?.textContent.trim().toLowerCase() ?? ''"
    await page.until(f"({chosen}).startsWith({what!r})")
    await page.press("Enter")
    await page.until("!document.querySelector('.djs-popup')")
    await page.press("Escape")


async def fill_property(page: Page, group: str, entry: str, text: str) -> None:
    """Open a group of the properties and fill one of its fields."""
    header = f"[data-group-id=group-{group}] .bio-properties-panel-group-header"
    await page.until(f"!!document.querySelector({header!r})")
    await page.click(header)
    field = f"[data-entry-id={entry}] :is(input, [role=textbox], textarea)"
    await page.until(f"!!document.querySelector({field!r})")
    await page.fill(field, text)


def deployed(http: str, process: str, name: str = "Drawn") -> str:
    """Deploy a process with a diagram and return its key."""
    with api(http) as session:
        files = {"resources": (f"{process}.bpmn", MODEL.format(id=process, name=escaped(name)).encode())}
        found = session.post("/v2/deployments", files=files).raise_for_status().json()
    return str(found["deployments"][0]["processDefinition"]["processDefinitionKey"])


def started_with(http: str, form: str) -> str:
    """Deploy a process with a start form and return its key."""
    linked = f'<bpmn:extensionElements><zeebe:formDefinition formId="{form}" /></bpmn:extensionElements>'
    model = MODEL.format(id=f"with-{form}", name="Asks").replace(
        "<bpmn:outgoing>a", f"{linked}<bpmn:outgoing>a"
    )
    with api(http) as session:
        files = {"resources": ("asks.bpmn", model.encode())}
        found = session.post("/v2/deployments", files=files).raise_for_status().json()
    return str(found["deployments"][0]["processDefinition"]["processDefinitionKey"])


def labelled_form(http: str, label: str) -> str:
    """Deploy a form with one field and return its id."""
    field = {"id": "field-1", "key": "answer", "type": "textfield", "label": label}
    form = {"id": "labelled", "type": "default", "components": [field]}
    with api(http) as session:
        files = {"resources": ("labelled.form", json.dumps(form).encode())}
        session.post("/v2/deployments", files=files).raise_for_status()
    return "labelled"


def versions(http: str, process: str) -> list[dict[str, Any]]:
    with api(http) as session:
        wanted = {"filter": {"processDefinitionId": process}}
        return list(session.post("/v2/process-definitions/search", json=wanted).json()["items"])


@needs_editors
async def test_a_person_draws_a_process_mends_what_is_wrong_deploys_it_and_tries_it(
    page: Page, addresses: Addresses
) -> None:
    await edit(page, addresses, "models/new/process")
    await choose(page, "StartEvent")
    await append(page, "service task")
    await page.until(f"JSON.stringify({FINDINGS}).includes('task-definition')")
    wrong, marked = await page.run(FINDINGS), await page.run(MARKED)
    await page.click("[data-act=deploy]")
    await page.until("!document.getElementById('refusal').hidden")
    refusal = await page.run("document.getElementById('refusal').textContent")
    await fill_property(page, "taskDefinition", "taskDefinitionType", "drawn-by-hand")
    await page.until(f"!JSON.stringify({FINDINGS}).includes('task-definition')")
    await choose(page, "ServiceTask")
    await append(page, "end event")
    await page.until(f"{FINDINGS}.length === 0 && document.getElementById('findings').hidden")
    await page.click("[data-act=deploy]")
    await page.until("!document.getElementById('deployed').hidden")
    process = await page.run("document.getElementById('deployed').textContent.match(/process-\\w+/)[0]")
    drafts = await page.run(DRAFTS)
    await page.click("#deployed a[href$='run=test']")
    await page.until("document.title.startsWith('Start')")
    await page.click("#answers button")
    await page.until("document.querySelector('.facts')?.textContent.includes('Tags')")

    assert ["task-definition", "Error"] in wrong
    assert "finding error" in marked
    assert "[task-definition]" in refusal
    assert drafts == []
    assert [each["version"] for each in versions(addresses.http, process)] == [1]
    assert "console-test-run" in await page.run("document.querySelector('.facts').textContent")
    with api(addresses.http) as session:
        wanted = {"filter": {"processDefinitionId": process, "tags": ["console-test-run"]}}
        found = session.post("/v2/process-instances/search", json=wanted).json()["items"]
        jobs = session.post("/v2/jobs/search", json={"filter": {"type": "drawn-by-hand"}}).json()["items"]
    assert [each["tags"] for each in found] == [["console-test-run"]]
    assert [each["processInstanceKey"] for each in jobs] == [found[0]["processInstanceKey"]]


@needs_editors
async def test_a_deployed_model_is_changed_and_becomes_the_next_version(
    page: Page, addresses: Addresses
) -> None:
    key = deployed(addresses.http, "changed")
    await edit(page, addresses, f"processes/{key}/edit")
    drawn = await page.run(DRAWN)
    await choose(page, "ServiceTask")
    await fill_property(page, "general", "name", " anew")
    await page.until(f"{DRAFTS}.length === 1")
    await page.click("[data-act=deploy]")
    await page.until("!document.getElementById('deployed').hidden")

    assert {"start", "work", "end"} <= set(drawn)
    assert sorted(each["version"] for each in versions(addresses.http, "changed")) == [1, 2]
    assert {each["resourceName"] for each in versions(addresses.http, "changed")} == {"changed.bpmn"}


@needs_editors
async def test_a_person_makes_a_decision_mends_an_entry_and_deploys_it(
    page: Page, addresses: Addresses
) -> None:
    await edit(page, addresses, "models/new/decision")
    await choose(page, "(Decision)")
    await page.until("!!document.querySelector('.add-rule')")
    await page.click(".add-rule")
    await page.until("!!document.querySelector('.input-cell [contenteditable]')")
    await page.fill(".input-cell [contenteditable]", "[1..")
    await page.until(f"{FINDINGS}.some(([rule]) => rule === 'dmn-unary-tests')")
    await page.run(
        "getSelection().selectAllChildren(document.querySelector('.input-cell [contenteditable]'))"
    )
    await page.fill(".input-cell [contenteditable]", '"a"')
    await page.fill(".output-cell [contenteditable]", '"b"')
    await page.until("document.getElementById('findings').hidden")
    await page.click("[data-act=deploy]")
    await page.until("!document.getElementById('deployed').hidden")
    await page.click("#deployed a")
    await page.until("!!document.querySelector('#rules td code')")

    assert '"a"' in await page.run("document.querySelector('#rules table').textContent")
    await page.click(".actions a[href$=edit]")
    await page.until(READY)
    assert (await page.run("document.getElementById('file').value")).startswith("definitions-")


@needs_editors
async def test_a_person_makes_a_form_and_changes_it(page: Page, addresses: Addresses) -> None:
    await edit(page, addresses, "models/new/form")
    await page.run("document.querySelector('[data-field-type=textfield]').focus()")
    await page.press("Enter")
    await page.until(f"{DRAFTS}.length === 1 && document.getElementById('elements').options.length === 2")
    await page.click("[data-act=deploy]")
    await page.until("!document.getElementById('deployed').hidden")
    told = await page.run("document.getElementById('deployed').textContent")
    form = await page.run("document.getElementById('deployed').textContent.match(/form-\\w+/)[0]")
    key = started_with(addresses.http, form)
    await page.goto(f"{addresses.http}/console/default/processes/{key}/start-form/edit")
    await page.until(READY)

    assert told.endswith("version 1.")
    assert await page.run("document.getElementById('file').value") == f"{form}.form"
    assert "(textfield)" in await page.run("document.getElementById('elements').textContent")


@needs_editors
async def test_a_draft_survives_a_reload_until_it_is_discarded(page: Page, addresses: Addresses) -> None:
    key = deployed(addresses.http, "kept-draft")
    await edit(page, addresses, f"processes/{key}/edit")
    await choose(page, "ServiceTask")
    await page.run(FOCUS)
    await page.press("Delete")
    await page.until(f"{DRAFTS}.length === 1")
    await page.goto(f"{addresses.http}/console/default/models")
    listed = await page.run("[...document.querySelectorAll('#drafts a')].map((each) => each.pathname)")
    await page.goto(f"{addresses.http}/console/default/processes/{key}/edit")
    await page.until(READY)
    kept, is_told = await page.run(DRAWN), await page.run("!document.getElementById('restored').hidden")
    await page.run("window.isBefore = true")
    await page.click("[data-act=discard]")
    await page.until(f"!window.isBefore && {READY} && document.getElementById('restored').hidden")
    # Longer than the pause after which a change is kept: a model that is opened and checked is not changed.
    await page.run("new Promise((done) => setTimeout(done, 500))")

    assert listed == [f"/console/default/processes/{key}/edit"]
    assert "work" not in kept
    assert is_told
    assert "work" in await page.run(DRAWN)
    assert await page.run(DRAFTS) == []


@needs_editors
async def test_what_changes_while_the_server_deploys_stays_a_draft(page: Page, addresses: Addresses) -> None:
    key = deployed(addresses.http, "late-change")
    await edit(page, addresses, f"processes/{key}/edit")
    await page.run(CHANGES_DURING_DEPLOYMENT)
    await page.click("[data-act=deploy]")
    await page.until("!document.getElementById('deployed').hidden")
    await page.until(f"{KEPT_FILE} === 'renamed.bpmn'")

    assert len(await page.run(DRAFTS)) == 1


@needs_editors
async def test_a_sign_out_deletes_the_drafts_of_the_tab(page: Page, addresses: Addresses) -> None:
    key = deployed(addresses.http, "left-draft")
    await edit(page, addresses, f"processes/{key}/edit")
    await choose(page, "ServiceTask")
    await page.run(FOCUS)
    await page.press("Delete")
    await page.until(f"{DRAFTS}.length === 1")
    page.browser.signed_in.clear()
    await page.click("header form button")
    await page.until("document.title.startsWith('Signed out')")

    assert await page.run(DRAFTS) == []


@needs_editors
async def test_text_of_a_model_is_text_in_its_editor(page: Page, addresses: Addresses) -> None:
    key = deployed(addresses.http, "hostile-model", name=HOSTILE)
    await edit(page, addresses, f"processes/{key}/edit")
    await choose(page, "ServiceTask")
    await fill_property(page, "documentation", "documentation", HOSTILE)
    await page.until(f"{DRAFTS}.length === 1")
    await page.run("document.querySelector('[data-entry-id=documentation] textarea').blur()")

    assert await page.run("document.querySelectorAll('img[onerror], svg[onload]').length") == 0
    assert not (await page.run("document.title")).startswith("run")
    assert any(
        HOSTILE in text
        for text in await page.run(
            "[...document.getElementById('elements').options].map((each) => each.textContent)"
        )
    )


@needs_editors
async def test_a_finding_leads_to_its_element(page: Page, addresses: Addresses) -> None:
    await edit(page, addresses, "models/new/process")
    await page.run("""[...document.querySelectorAll('#findings button')]
      .find((each) => each.textContent.includes('StartEvent')).click()""")
    await page.until("document.querySelector('.djs-element.selected') !== null")

    assert "StartEvent" in await page.run(CHOSEN)


@needs_editors
async def test_a_model_without_a_diagram_is_told_and_not_lost(page: Page, addresses: Addresses) -> None:
    with api(addresses.http) as session:
        model = MODEL.format(id="plain-model", name="Plain")
        bare = model[: model.index("<bpmndi:BPMNDiagram")] + "</bpmn:definitions>"
        files = {"resources": ("plain.bpmn", bare.encode())}
        found = session.post("/v2/deployments", files=files).raise_for_status().json()
    key = found["deployments"][0]["processDefinition"]["processDefinitionKey"]
    await edit(page, addresses, f"processes/{key}/edit")

    assert "no diagram to display" in await page.run("document.getElementById('refusal').textContent")
    assert await page.run("document.querySelector('[data-act=deploy]').disabled")


async def evaluate(page: Page, expression: str, variables: str) -> None:
    await page.run(f"""(() => {{
      document.getElementById('expression').value = {json.dumps(expression)};
      document.getElementById('variables').value = {json.dumps(variables)};
      document.querySelector('main').dataset.asked = '';
    }})()""")
    await page.click("#evaluation button")
    await page.until("!('asked' in document.querySelector('main').dataset)")


async def test_an_expression_is_evaluated_and_a_mistake_has_its_line_and_column(
    page: Page, addresses: Addresses
) -> None:
    await visit(page, f"{addresses.http}/console/default/models/expression")
    await page.without_scripts()
    await page.goto(f"{addresses.http}/console/default/models/expression")
    await page.click("#evaluation button")
    await page.until("!!document.getElementById('value')")
    example = await page.run("document.getElementById('value').textContent")
    await evaluate(
        page, "{digits: n, gone: order.total}", '{"n": 12345678901234567890.123456789, "order": {}}'
    )
    value = await page.run("document.getElementById('value').textContent")
    notes = await page.run("document.body.innerText")
    await evaluate(page, "=if n > 1\nthen 2 els 3", '{"n": 2}')
    mistake = await page.run("document.getElementById('mistake').textContent.split('\\n')")
    refusal = await page.run("document.getElementById('problem').textContent")
    await evaluate(page, "1", "{")
    invalid = await page.run("document.querySelector('[aria-invalid]').id")
    await evaluate(page, "h", json.dumps({"h": HOSTILE}))

    assert example == "119"
    assert "12345678901234567890.123456789" in value
    assert "No context entry found with key 'total'" in notes
    assert "line 2, column 8" in refusal
    assert mistake == ["then 2 els 3", "       ^"]
    assert invalid == "variables"
    assert json.loads(await page.run("document.getElementById('value').textContent")) == HOSTILE


async def test_an_evaluation_needs_the_token_of_the_session(page: Page, addresses: Addresses) -> None:
    await visit(page, f"{addresses.http}/console/default/models/expression")
    status = await page.run("""fetch('/console/default/models/expression',
      {method: 'POST', body: new URLSearchParams({expression: '1'})}).then(({status}) => status)""")

    assert status == 403


async def test_an_editor_shows_models_of_its_tenant_alone(page: Page, addresses: Addresses) -> None:
    key = deployed(addresses.http, "of-default")
    await visit(page, f"{addresses.http}/console/default/")
    statuses = await page.run(
        f"Promise.all(['default', 'other'].map(async (tenant) => (await fetch(`/console/${{tenant}}/processes/{key}/edit`)).status))"
    )

    assert statuses == [200, 404]


async def test_a_lint_in_a_session_needs_its_csrf_token(page: Page, addresses: Addresses) -> None:
    await visit(page, f"{addresses.http}/console/default/models")
    status = await page.run("""fetch('/api/v1/console/modeling/lint', {method: 'POST',
      headers: {'Content-Type': 'application/json', 'X-Tenant-Id': 'default'},
      body: JSON.stringify({resourceName: 'a.bpmn', content: '<a/>'})}).then(({status}) => status)""")

    assert status == 403


@needs_editors
@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_editors_can_be_read_and_used(page: Page, addresses: Addresses) -> None:
    script = axe()
    key = deployed(addresses.http, "seen-model")
    found = {}
    await edit(page, addresses, f"processes/{key}/edit")
    found["process"] = [await faults(page), await violations(page, script)]
    await choose(page, "ServiceTask")
    await page.run(
        "document.querySelectorAll('.bio-properties-panel-group-header').forEach((each) => each.click())"
    )
    found["properties"] = [await violations(page, script)]
    for kind in ("decision", "form"):
        await page.goto(f"{addresses.http}/console/default/models/new/{kind}")
        await page.until(READY)
        found[kind] = [await violations(page, script)]
    await page.goto(f"{addresses.http}/console/default/models/new/decision")
    await page.until(READY)
    await choose(page, "(Decision)")
    await page.until("!!document.querySelector('.add-rule')")
    await page.click(".add-rule")
    found["table"] = [await violations(page, script)]
    await page.goto(f"{addresses.http}/console/default/models/expression")
    await page.run("document.getElementById('expression').value = 'gone'")
    await page.click("#evaluation button")
    await page.until("!!document.getElementById('warnings')")
    found["expression"] = [await faults(page), await violations(page, script)]
    await page.run("document.getElementById('expression').value = '1 +'")
    await page.click("#evaluation button")
    await page.until("!!document.getElementById('problem')")
    found["mistake"] = [await faults(page), await violations(page, script)]
    await page.goto(f"{addresses.http}/console/default/models")
    found["models"] = [await faults(page), await violations(page, script)]

    assert {name: each for name, each in found.items() if any(each)} == {}


async def test_only_pages_of_editors_load_them(page: Page, addresses: Addresses) -> None:
    loaded = "performance.getEntriesByType('resource').filter(({name}) => name.includes('/editors/')).length"
    await visit(page, f"{addresses.http}/console/default/models")

    assert await page.run(loaded) == 0


TEMPLATED = "[...document.querySelectorAll('.properties label')].map((each) => each.textContent.trim())"
OWN_TEMPLATE = {
    "$schema": "https://unpkg.com/@camunda/zeebe-element-templates-json-schema/resources/schema.json",
    "id": "own",
    "name": f"Own {HOSTILE}",
    "description": HOSTILE,
    "appliesTo": ["bpmn:Task"],
    "elementType": {"value": "bpmn:ServiceTask"},
    "properties": [
        {
            "label": f"Own field {HOSTILE}",
            "description": HOSTILE,
            "type": "String",
            "binding": {"type": "zeebe:taskHeader", "key": "own"},
        },
        {
            "type": "Hidden",
            "value": "own-job",
            "binding": {"type": "zeebe:taskDefinition", "property": "type"},
        },
    ],
}


async def apply_template(page: Page, element: str, template: str) -> None:
    """Choose a template of an element in its properties, by keyboard."""
    await choose(page, element)
    button = ".bio-properties-panel-select-template-button"
    await page.until(f"!!document.querySelector({button!r})")
    await page.run(f"document.querySelector({button!r}).focus()")
    await page.press("Enter")
    await page.until("document.activeElement.closest('.djs-popup') !== null")
    chosen = "document.querySelector('.djs-popup .entry.selected')?.textContent.trim() ?? ''"
    # The menu chooses its first entry once more when it has been drawn, so the key may have to be pressed again.
    for _ in range(MOST_PRESSES):
        await page.run(FRAMES)
        if (await page.run(chosen)).startswith(template):
            break
        await page.press("ArrowDown")
    await page.press("Enter")
    await page.until("!!document.querySelector('.bio-properties-panel-applied-template-button')")


async def open_templates(page: Page, content: str) -> None:
    await page.run(f"""(() => {{
      const chosen = new DataTransfer();
      chosen.items.add(new File([{json.dumps(content)}], 'templates.json'));
      const input = document.getElementById('templates');
      input.files = chosen.files;
      input.dispatchEvent(new Event('change', {{bubbles: true}}));
    }})()""")


@needs_editors
async def test_a_template_makes_a_task_whose_model_can_be_deployed(page: Page, addresses: Addresses) -> None:
    await edit(page, addresses, "models/new/process")
    await choose(page, "StartEvent")
    await append(page, "task")
    await apply_template(page, "(Task)", "Evaluation")
    await page.until(f"{TEMPLATED}.includes('Result variable')")
    await page.click(
        "[data-group-id=group-ElementTemplates__CustomProperties] .bio-properties-panel-group-header"
    )
    for number, text in enumerate(("dish", "dinner")):
        field = f"[data-entry-id='custom-entry-gnomon.decision-{number}']"
        await page.fill(f"{field} :is(input, [role=textbox], textarea)", text)
        await page.until(f"{FINDINGS}.filter(([, kind]) => kind === 'Error').length === {1 - number}")
    await choose(page, "(BusinessRuleTask)")
    await append(page, "end event")
    await page.until(f"{FINDINGS}.length === 0 && document.getElementById('findings').hidden")
    await page.click("[data-act=deploy]")
    await page.until("!document.getElementById('deployed').hidden")
    process = await page.run("document.getElementById('deployed').textContent.match(/process-\\w+/)[0]")

    with api(addresses.http) as session:
        (version,) = versions(addresses.http, process)
        model = session.get(f"/v2/process-definitions/{version['processDefinitionKey']}/xml").text
    assert '<zeebe:calledDecision decisionId="dish" resultVariable="dinner" />' in model


@needs_editors
@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_templates_are_in_the_language_of_the_page_and_can_be_read(
    page: Page, addresses: Addresses
) -> None:
    await page.prefer("de")
    await edit(page, addresses, "models/new/process")
    await choose(page, "StartEvent")
    await append(page, "aufgabe")
    await apply_template(page, "(Task)", "Aufgabe einer")
    await page.until(f"{TEMPLATED}.includes('Kandidatengruppen')")

    assert await violations(page, axe()) == {}
    assert await faults(page) == {}


@needs_editors
async def test_a_person_opens_templates_whose_text_stays_text_and_a_sign_out_forgets_them(
    page: Page, addresses: Addresses
) -> None:
    kept = "Object.keys(sessionStorage).filter((name) => name.startsWith('gnomon-templates ')).length"
    await edit(page, addresses, "models/new/process")
    await open_templates(page, json.dumps({"id": "broken"}))
    await page.until("!document.getElementById('refusal').hidden")
    refused = await page.run(kept)
    await open_templates(page, json.dumps([OWN_TEMPLATE]))
    await page.until(f"{kept} === 1")
    await page.goto(f"{addresses.http}/console/default/models/new/process")
    await page.until(READY)
    await choose(page, "StartEvent")
    await append(page, "task")
    await apply_template(page, "(Task)", "Own")
    await page.until(f"{TEMPLATED}.some((label) => label.startsWith('Own field'))")
    text = await page.run("document.getElementById('editor').textContent")
    await page.until(f"!JSON.stringify({FINDINGS}).includes('task-definition')")
    page.browser.signed_in.clear()
    await page.click("header form button")
    await page.until("document.title.startsWith('Signed out')")

    assert refused == 0
    assert "Own field </script>" in text
    assert await page.run("document.querySelectorAll('img[onerror], svg[onload]').length") == 0
    assert await page.run(kept) == 0


@needs_editors
@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_the_editor_of_processes_is_in_the_language_of_the_page(
    page: Page, addresses: Addresses
) -> None:
    """Nothing that it shows in English is one of the words that the catalogues have."""
    menu = "[...document.querySelectorAll('.djs-popup :is(.entry, .title)')].flatMap((each) => [each.title, ...each.innerText.split('\\n')])"
    panel = "[...document.querySelectorAll('.properties *')].flatMap((each) => [each.title, ...[...each.childNodes].filter(({nodeType}) => nodeType === 3).map(({data}) => data)])"
    titles = "[...document.querySelectorAll('.djs-palette .entry, .djs-context-pad .entry')].map(({title}) => title)"
    await page.prefer("de")
    await edit(page, addresses, "models/new/process")
    await choose(page, "StartEvent")
    await append(page, "service")
    await choose(page, "ServiceTask")
    await page.until("!!document.querySelector('[data-group-id=group-taskDefinition]')")
    wrapper = (
        "document.querySelector('[data-group-id=group-taskDefinition] .bio-properties-panel-tooltip-wrapper')"
    )
    tooltip = "document.querySelector('.bio-properties-panel-tooltip')"
    await page.run(f"{wrapper}.dispatchEvent(new MouseEvent('mouseenter'))")
    await page.until(f"!!{tooltip}")
    explained = await page.run(f"{tooltip}.textContent")
    await page.run(f"{wrapper}.dispatchEvent(new MouseEvent('mouseleave'))")
    await page.until(f"!{tooltip}")
    shown = await page.run(f"[...{titles}, ...{panel}]")
    await page.run(FOCUS)
    await page.press("r")
    await page.until("document.activeElement.closest('.djs-popup') !== null")
    shown += await page.run(menu)
    found = await violations(page, axe())

    german = words_in(languages().of("de"), "process")
    assert {"Hand-Werkzeug einschalten", "Aufgabendefinition", "Arbeit einer Person"} <= {*shown}
    assert explained.startswith("Welche Jobworker den Dienst ausführen (z. B. ")
    assert {text for text in shown if text in german} == set()
    assert found == {}


@needs_editors
async def test_findings_are_in_the_language_of_the_page(page: Page, addresses: Addresses) -> None:
    told = "[...document.querySelectorAll('#findings .grow')].map((each) => each.textContent)"
    await page.prefer("de")
    await edit(page, addresses, "models/new/process")
    await page.until(
        f"{told}.includes('Es gibt kein Endereignis: erwartet: mindestens 1 endEvent, gefunden: 0')"
    )


SHOWN = """[...document.querySelectorAll('.workspace, .workspace *')].flatMap((each) => [
  each.title, each.placeholder ?? '', ...[...each.childNodes].filter(({nodeType}) => nodeType === 3).map(({data}) => data.trim())])"""
OPEN_ALL = "document.querySelectorAll('.bio-properties-panel-group-header:not(.open)').forEach((each) => each.click())"


@needs_editors
@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_the_editor_of_decisions_is_in_the_language_of_the_page(
    page: Page, addresses: Addresses
) -> None:
    script = axe()
    await page.prefer("de")
    await edit(page, addresses, "models/new/decision")
    await page.until("!!document.querySelector('.djs-palette .entry')")
    await page.run(OPEN_ALL)
    shown = await page.run(SHOWN)
    await choose(page, "(Decision)")
    await page.until("!!document.querySelector('.add-rule')")
    await page.click(".add-rule")
    shown += await page.run(SHOWN)
    found = await violations(page, script)

    german = words_in(languages().of("de"), "decision")
    assert {"Hand-Werkzeug einschalten", "Trefferregel:", "Regel hinzufügen"} <= {*shown}
    # Labels of the model are its own.
    assert {text for text in shown if text in german} == {"Input", "Output"}
    assert found == {}


@needs_editors
@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_the_editor_of_forms_is_in_the_language_of_the_page_and_leaves_texts_of_forms(
    page: Page, addresses: Addresses
) -> None:
    script = axe()
    key = started_with(addresses.http, labelled_form(addresses.http, "Required"))
    await page.prefer("de")
    await edit(page, addresses, f"processes/{key}/start-form/edit")
    await choose(page, "Required")
    await page.until("!!document.querySelector('.bio-properties-panel-group-header')")
    found = await violations(page, script)
    await page.run(OPEN_ALL)
    await page.until("document.querySelectorAll('.bio-properties-panel-group-header.open').length > 2")
    await page.until(f"({SHOWN}).includes('Pflichtfeld')")
    shown = await page.run(SHOWN)
    form = await page.run("document.querySelector('.fjs-form-field label').textContent")

    german = words_in(languages().of("de"), "form")
    assert {"Bausteine", "Textfeld", "Beschriftung des Feldes", "Prüfung"} <= {*shown}
    assert {text for text in shown if text in german} <= {"Required"}
    assert "Required" in form
    assert found == {}


@pytest.mark.parametrize("kind", ["process", "decision", "form"])
def test_an_english_page_carries_no_words_of_the_editor(kind: str) -> None:
    assert words_in(ENGLISH, kind) == {}
