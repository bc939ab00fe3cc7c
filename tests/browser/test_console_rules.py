"""Rules that the browser evaluates find what the server finds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lxml import etree

from gnomon.engine.v1.console_service_pb2 import LintRule
from server.bpmn.builder import ProcessBuilder, process
from server.lint.catalogue import RULES
from server.lint.files import lint_file
from server.lint.rule import Family
from server.rpc.lint_rules import LINT_RULES
from tests.browser.chromium import Page
from tests.browser.console import HOSTILE, escaped, visit
from tests.browser.test_console_models import FINDINGS, append, choose, edit, fill_property, needs_editors
from tests.server.lint import decision_cases, form_cases, rule_cases
from tests.server.lint.rule_cases import Case
from tests.server.lint.test_laws import SOUND
from tests.server_process import ROOT, Addresses

DATA = ROOT.parent / "shared/data"
CASES: Mapping[str, Mapping[str, Case]] = {
    "process": rule_cases.CASES,
    "decision": decision_cases.CASES,
    "form": form_cases.CASES,
}
FAMILIES = {"process": Family.BPMN, "decision": Family.DMN, "form": Family.FORM}
ENDINGS = {"process": ".bpmn", "decision": ".dmn", "form": ".form"}
# A reader decides the first three, the decision compiler those of decisions, and FEEL the variables of a condition. One has a
# pattern that browsers do not know.
LEFT_TO_THE_SERVER = {
    "xml-well-formed",
    "dmn-readable",
    "form-readable",
    "dmn-requirement-cycle",
    "dmn-requirement-resolves",
    "dmn-import",
    "dmn-expression",
    "dmn-unary-tests",
    "dmn-expression-language",
    "dmn-type",
    "dmn-invocation-target",
    "dmn-too-large",
    "conditional-variables",
    "user-task-candidates-csv",
}
DECIDED = {
    kind: {rule.id for rule in RULES if rule.family is family} - LEFT_TO_THE_SERVER
    for kind, family in FAMILIES.items()
}
# The policy permits a script that has the nonce of the page.
LOAD = """new Promise((loaded) => {
  window.loaded = loaded;
  const script = document.createElement("script");
  script.type = "module";
  script.nonce = document.querySelector("script[nonce]").nonce;
  script.textContent = `import { linterOf } from "lint"; import { models } from "lint_KIND";
    window.linter = linterOf(RULES, models); window.loaded();`.replace("RULES", () => JSON.stringify(RULES));
  document.head.append(script);
})"""
LINT = """Promise.all(TEXTS.map(async (text) => {
  const found = await linter.lint(text);
  if (!found) return null;
  const { findings, isLeft } = found;
  return {
    findings: findings.map(({ ruleId, severity, elementId, message }) => [ruleId, severity, elementId, message]),
    left: KEYS.filter(([ruleId, elementId]) => isLeft({ ruleId, elementId })),
  };
}))"""
NO_SERVER = """
const fetched = globalThis.fetch;
globalThis.fetch = (path, init) => path.endsWith("/modeling/lint") ? new Promise(() => {}) : fetched(path, init);
"""

DMN = '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="a">'

DRAWN = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="file" targetNamespace="urn:test"
  xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI">
  <process id="p" isExecutable="true"><startEvent id="start"/>
    <sequenceFlow id="large" sourceRef="start" targetRef="ship"><conditionExpression xsi:type="tFormalExpression">{condition}</conditionExpression></sequenceFlow>
    <serviceTask id="ship"><extensionElements><zeebe:taskDefinition type="{type}"/></extensionElements></serviceTask>
  </process>
  <bpmndi:BPMNDiagram id="diagram"><bpmndi:BPMNPlane id="plane" bpmnElement="p">
    <bpmndi:BPMNShape id="a" bpmnElement="start"><dc:Bounds x="0" y="22" width="36" height="36"/></bpmndi:BPMNShape>
    <bpmndi:BPMNShape id="b" bpmnElement="ship"><dc:Bounds x="90" y="0" width="100" height="80"/></bpmndi:BPMNShape>
    <bpmndi:BPMNEdge id="c" bpmnElement="large"><di:waypoint x="36" y="40"/><di:waypoint x="90" y="40"/></bpmndi:BPMNEdge>
  </bpmndi:BPMNPlane></bpmndi:BPMNDiagram>
</definitions>"""

every_kind = pytest.mark.parametrize("kind", FAMILIES)


def message(rule: LintRule) -> dict[str, Any]:
    """Write a rule as the HTTP API does."""
    bounds = {name.name: value for name, value in rule.options.bounds.ListFields()}
    return {
        "id": rule.id,
        "severity": rule.severity,
        "appliesTo": [*rule.applies_to],
        "message": rule.message,
        "family": rule.family,
        "static": rule.static,
        "evaluator": rule.evaluator,
        "options": {
            "attribute": [*rule.options.attribute],
            "value": [*rule.options.value],
            "bounds": bounds or None,
        },
    }


class Finding(NamedTuple):
    rule_id: str
    severity: str
    element_id: str
    message: str


def by_server(kind: str, model: bytes) -> list[Finding]:
    found = lint_file(f"model{ENDINGS[kind]}", model)
    return [
        Finding(each.rule_id, each.severity, each.element_id, each.message)
        for each in found
        if each.rule_id in DECIDED[kind]
    ]


async def linter(page: Page, addresses: Addresses, kind: str = "process") -> None:
    """Open a page that has the modules and the rules, as the editor has them."""
    await edit(page, addresses, f"models/new/{kind}")
    rules = json.dumps([message(rule) for rule in LINT_RULES])
    await page.run(f"(globalThis.RULES = {rules}) && 1")
    await page.run(LOAD.replace("KIND", kind))


async def by_browser(
    page: Page, models: Sequence[bytes], keys: Sequence[tuple[str, str]] = ()
) -> list[tuple[list[Finding], set[tuple[str, str]]] | None]:
    """Return the findings of each model with those keys that are left to the server; None for a model that is."""
    script = LINT.replace("TEXTS", json.dumps([model.decode() for model in models]))
    found = await page.run(script.replace("KEYS", json.dumps(keys)))
    return [
        each and ([Finding(*finding) for finding in each["findings"]], set(map(tuple, each["left"])))
        for each in found
    ]


async def differences(page: Page, kind: str, models: Mapping[str, bytes]) -> list[Any]:
    """Return the names of models with the findings of browser and server that are not the same.

    The server may find more for an element that the browser leaves to it.
    """
    server = {name: by_server(kind, model) for name, model in models.items()}
    keys = sorted({(each.rule_id, each.element_id) for found in server.values() for each in found})
    browser = dict(zip(models, await by_browser(page, [*models.values()], keys), strict=True))
    wrong = []
    for name, expected in server.items():
        here, left = browser[name] or ([], set())
        decided = [each for each in expected if each in here or (each.rule_id, each.element_id) not in left]
        if here != decided:
            wrong.append((name, here, decided))
    return wrong


def damaged(sound: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a model without each of its elements and attributes, and with each attribute changed."""
    for place, original in enumerate(etree.fromstring(sound).iter()):
        for change in ["", *(f"{name} {text}" for name in original.attrib for text in ("", "charge", "=x"))]:
            root = etree.fromstring(sound)
            element = list(root.iter())[place]
            name, _, text = change.partition(" ")
            if text:
                element.set(name, text)
            elif name:
                del element.attrib[name]
            elif (parent := element.getparent()) is not None:
                parent.remove(element)
            yield f"{place} {change}", etree.tostring(root)


def timed(**timer: str) -> ProcessBuilder:
    return process("p").start("start").timer_catch("timer", **timer).end("end")


DATES = (
    "2030-01-01T08:00:00Z",
    "2030-01-01T08:00Z",
    "2030-01-01T08:00:00.123456789+02:00",
    "2030-01-01T24:00:00Z",
    "2030-01-01T24:00:01Z",
    "2030-02-29T08:00:00Z",
    "2028-02-29T08:00:00-18:00",
    "2030-01-01T08:00:00+18:01",
    "2030-01-01T08:00:00+01:60",
    "2030-13-01T08:00:00Z",
    "2030-01-01T08:60:00Z",
    "2030-01-01T08:00:60Z",
    "2030-01-01T08:00:00",
    "2030-01-01",
    "30-01-01T08:00:00Z",
    "02030-01-01T08:00:00Z",
    "tomorrow",
    "2030-01-01T08:00:00+01:00[Europe/Berlin]",
    "2030-01-01T08:00:00@Europe/Berlin",
    "2030-01-01T08:00:00@Nowhere",
    "2030-02-30T08:00:00@Europe/Berlin",
    f"2030-01-01T08:00:00Z{'0' * 200}",
)
DURATIONS = (
    "PT10S",
    "P1Y2M3W4DT5H6M7.5S",
    "pt1,5s",
    "-P1D",
    "P-1DT-2H",
    "P",
    "PT",
    "P1DT",
    "10 s",
    "P1S",
    "PT1.1234567890S",
    "P999999999D",
    "P1000000000D",
    f"P{'9' * 100}D",
    f"P{'9' * 200}D",
)
CYCLES = (
    "R/PT1S",
    "R3/PT10S",
    "R3/2030-01-01T08:00:00Z/PT10S",
    "R3//PT10S",
    "R3/soon/PT10S",
    "R3/2030-01-01T08:00:00Z/2031-01-01T08:00:00Z/PT10S",
    "R0/PT1S",
    "R2147483647/PT1S",
    "R2147483648/PT1S",
    f"R{'9' * 100}/PT1S",
    "R-1/PT1S",
    "r/PT1S",
    "R/PT0.9S",
    "R/PT0.9999999S",
    "R/PT0S",
    "R/-P1D",
    "R/P1M-31D",
    "R/P1M-31DT1S",
    "R/P1MT-0S",
    f"R/P{'9' * 50}Y",
    f"R/P-{'9' * 50}Y",
    "R/P8029YT99999999H",
    "R/P-1970Y",
    "R/1 s",
    "R",
    "PT10S",
    "*/5 * * * * *",
    "* * * *",
    "@daily",
    "@never",
)


@needs_editors
@every_kind
async def test_the_browser_decides_all_rules_but_those_of_readers_and_of_feel(
    page: Page, addresses: Addresses, kind: str
) -> None:
    await linter(page, addresses, kind)

    assert set(await page.run("[...linter.decides]")) == DECIDED[kind]
    assert len(DECIDED["process"]) > 150


@needs_editors
@every_kind
async def test_the_browser_finds_what_the_server_finds_for_each_rule(
    page: Page, addresses: Addresses, kind: str
) -> None:
    cases = {name: case for name, case in CASES[kind].items() if name not in LEFT_TO_THE_SERVER}
    models = {f"{name} broken": case.broken for name, case in cases.items()}
    keys = [(name, case.element_id) for name, case in cases.items()]
    await linter(page, addresses, kind)
    wrong = await differences(page, kind, {**models, **{name: case.mended for name, case in cases.items()}})
    found = await by_browser(page, [*models.values()], keys)

    assert wrong == []
    reported = {
        key: here is not None
        and (key in here[1] or key in {(each.rule_id, each.element_id) for each in here[0]})
        for key, here in zip(keys, found, strict=True)
    }
    assert [key for key, is_reported in reported.items() if not is_reported] == []


@needs_editors
@every_kind
@pytest.mark.skipif(not DATA.is_dir(), reason="the folder with models of other projects is absent")
async def test_the_browser_finds_what_the_server_finds_in_real_models(
    page: Page, addresses: Addresses, kind: str
) -> None:
    folders = (DATA, ROOT / "examples")
    files = sorted(file for folder in folders for file in folder.rglob(f"*{ENDINGS[kind]}"))
    await linter(page, addresses, kind)

    assert files
    assert await differences(page, kind, {_named(file): file.read_bytes() for file in files}) == []


def _named(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


@needs_editors
@pytest.mark.parametrize(
    ("kind", "sound"),
    [
        pytest.param("process", SOUND, id="process"),
        pytest.param("decision", (ROOT / "examples/pricing.dmn").read_bytes(), id="decision"),
    ],
)
async def test_the_browser_finds_what_the_server_finds_in_a_damaged_model(
    page: Page, addresses: Addresses, kind: str, sound: bytes
) -> None:
    models = dict(damaged(sound))
    await linter(page, addresses, kind)

    assert any(by_server(kind, model) for model in models.values())
    assert await differences(page, kind, models) == []


@needs_editors
async def test_the_browser_reads_forms_as_the_server_does(page: Page, addresses: Addresses) -> None:
    """Keys are compared with the paths of groups, and components of unknown types are named by their ids."""
    field = {"type": "textfield", "id": "field", "key": "name"}
    members: Mapping[str, list[object]] = {
        "components": [
            [field, {"type": "group", "id": "g", "path": "name", "components": [field]}],
            [{"type": "group", "id": "g", "components": [field]}, {**field, "id": "again"}],
            [
                {"type": "dynamiclist", "id": "l", "path": "a", "components": [field]},
                {**field, "key": "a.name"},
            ],
            [{"type": "group", "path": " ", "components": [field, field]}],
            [{**field, "type": "carousel"}, {"id": "untyped"}, {"type": True}, {"type": 1}, "none", None],
            [{**field, "validate": {"min": "=1 +"}, "conditional": {"hide": "=("}, "label": "=x"}],
            {"type": "textfield"},
        ],
        "id": ["", " ", "=", "é" * 255, "\N{GRINNING FACE}" * 255, "\N{GRINNING FACE}" * 256, 1, None],
        "versionTag": ["v" * 256, ["v"], False],
        "schemaVersion": [0, 1, 19, 20, "19", " 7 ", "=x", "", None, True, 12345678901],
        "type": ["other", "", None, 3],
    }
    forms = {
        f"{name} {place}": json.dumps({"id": "f", "type": "default", name: value}).encode()
        for name, values in members.items()
        for place, value in enumerate(values)
    }
    await linter(page, addresses, "form")

    assert {each.rule_id for form in forms.values() for each in by_server("form", form)} == DECIDED["form"]
    assert await differences(page, "form", forms) == []


@needs_editors
async def test_the_browser_reads_timers_as_the_server_does(page: Page, addresses: Addresses) -> None:
    timers = {
        f"{form} {text}": timed(**{form: text}).to_xml()
        for form, texts in (("date", DATES), ("duration", DURATIONS), ("cycle", CYCLES))
        for text in texts
    }
    await linter(page, addresses)
    wrong = await differences(page, "process", timers)
    found = dict(zip(timers, await by_browser(page, [*timers.values()]), strict=True))

    assert wrong == []
    refused = [
        name
        for name, here in found.items()
        if here and any(each.rule_id == "timer-expression" for each in here[0])
    ]
    assert {"date tomorrow", "duration P", "cycle R/PT0S"} < set(refused) < set(timers)


@needs_editors
@pytest.mark.parametrize(
    ("kind", "model"),
    [
        pytest.param("process", "<a", id="broken"),
        pytest.param("process", "<definitions/>", id="another namespace"),
        pytest.param("process", '<constructor xmlns="constructor"/>', id="the name of a property"),
        pytest.param(
            "process",
            '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">'
            + "<process/>" * 100_000
            + "</definitions>",
            id="too large",
        ),
        pytest.param("decision", "<definitions/>", id="no decisions"),
        pytest.param("decision", f'{DMN}<decision name="{"a" * 1_000_000}"/></definitions>', id="too long"),
        pytest.param("form", "{", id="no JSON"),
        pytest.param("form", "[]", id="no object"),
        pytest.param("form", json.dumps({"components": [{}] * 2_001}), id="too many components"),
        pytest.param("form", f'{{"a": {"[" * 64}{"]" * 64}}}', id="too deep"),
    ],
)
async def test_a_file_that_is_no_model_or_too_large_is_left_to_the_server(
    page: Page, addresses: Addresses, kind: str, model: str
) -> None:
    await linter(page, addresses, kind)

    assert await by_browser(page, [model.encode()]) == [None]
    page.faults.clear()  # Chromium styles its own words about a broken file, which the policy refuses


@needs_editors
async def test_findings_come_and_go_while_the_server_does_not_answer(
    page: Page, addresses: Addresses
) -> None:
    await edit(page, addresses, "models/new/process")
    before = await page.run(FINDINGS)
    await page.run(NO_SERVER)
    await choose(page, "StartEvent")
    await append(page, "service task")
    await page.until(f"JSON.stringify({FINDINGS}).includes('task-definition')")
    drawn = await page.run(FINDINGS)
    await fill_property(page, "taskDefinition", "taskDefinitionType", "drawn-here")
    await page.until(f"!JSON.stringify({FINDINGS}).includes('task-definition')")

    assert ["no-disconnected", "Warning"] in before
    assert ["no-disconnected", "Warning"] not in drawn


async def open_file(page: Page, content: bytes, kind: str = "process") -> None:
    await page.run(f"""(() => {{
      const chosen = new DataTransfer();
      chosen.items.add(new File([{json.dumps(content.decode())}], 'opened{ENDINGS[kind]}'));
      const input = document.getElementById('opened');
      input.files = chosen.files;
      input.dispatchEvent(new Event('change', {{bubbles: true}}));
    }})()""")


@needs_editors
@pytest.mark.parametrize(("kind", "rule"), [("decision", "dmn-unique-overlap"), ("form", "form-id-length")])
async def test_editors_of_decisions_and_forms_find_mistakes_while_the_server_does_not_answer(
    page: Page, addresses: Addresses, kind: str, rule: str
) -> None:
    case = CASES[kind][rule]
    await edit(page, addresses, f"models/new/{kind}")
    await page.run(NO_SERVER)
    await open_file(page, case.broken, kind)
    await page.until(f"JSON.stringify({FINDINGS}).includes({rule!r})")
    await open_file(page, case.mended, kind)
    await page.until(f"!JSON.stringify({FINDINGS}).includes({rule!r})")


@needs_editors
async def test_a_finding_about_an_expression_stays_until_the_text_is_no_expression(
    page: Page, addresses: Addresses
) -> None:
    def branch(condition: str, task_type: str) -> bytes:
        return DRAWN.format(condition=condition, type=task_type).encode()

    rule = "'condition-expression'"
    shown = f"{FINDINGS}.filter(([id]) => id === {rule}).length"
    texts = f"[...document.querySelectorAll(`#findings [data-rule={rule}] .grow`)].map((each) => each.textContent)"
    await edit(page, addresses, "models/new/process")
    await open_file(page, branch("=1 +", "ship"))
    await page.until(f"{shown} === 1")
    by_the_server = await page.run(texts)
    await page.run(NO_SERVER)
    await open_file(page, branch("=1 +", ""))
    await page.until(f"JSON.stringify({FINDINGS}).includes('job-type')")
    kept = await page.run(texts)
    await open_file(page, branch("1 + 1", "ship"))
    await page.until(f"{shown} === 1 && !JSON.stringify({FINDINGS}).includes('job-type')")

    assert kept == by_the_server
    (text,) = await page.run(texts)
    assert text.endswith(": conditionExpression does not start with =, found 1 + 1")


@needs_editors
async def test_text_of_a_finding_of_the_browser_is_text(page: Page, addresses: Addresses) -> None:
    await linter(page, addresses)
    model = f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="file">
      <process id="{escaped(HOSTILE)}" isExecutable="true"><startEvent id="{escaped(HOSTILE)}"/></process></definitions>"""
    (found,) = await by_browser(page, [model.encode()])
    await visit(page, f"{addresses.http}/console/default/models/new/process")

    assert found is not None
    assert HOSTILE in (found[0][-1].element_id, found[0][-1].message)
