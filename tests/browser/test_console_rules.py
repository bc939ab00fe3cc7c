"""Rules that the browser evaluates find what the server finds."""

import json
from typing import Any

import pytest

from gnomon.engine.v1.console_service_pb2 import LintRule
from server.lint.catalogue import RULES
from server.lint.files import lint_file
from server.lint.rule import EvaluatorKind, Family
from server.rpc.lint_rules import LINT_RULES
from tests.browser.chromium import Page
from tests.browser.console import HOSTILE, escaped, visit
from tests.browser.test_console_models import FINDINGS, append, choose, edit, fill_property, needs_editors
from tests.server.lint.rule_cases import CASES
from tests.server_process import ROOT, Addresses

MODELS = ROOT.parent / "shared/data/models/bpmn"
EVALUATED = {
    EvaluatorKind.SCHEMA,
    EvaluatorKind.SUPPORTED_TYPE,
    EvaluatorKind.REQUIRED_ATTRIBUTE,
    EvaluatorKind.UNIQUE,
    EvaluatorKind.REFERENCE,
    EvaluatorKind.COUNT,
    EvaluatorKind.FLOW_COUNT,
    EvaluatorKind.EXACTLY_ONE_OF,
    EvaluatorKind.FORBIDDEN_VALUE,
    EvaluatorKind.MAX_LENGTH,
    EvaluatorKind.PATTERN,
}
# The reader decides the first; the second has a pattern that browsers do not know.
LEFT_TO_THE_SERVER = {"xml-well-formed", "user-task-candidates-csv"}
DECIDED = {
    rule.id for rule in RULES if rule.family is Family.BPMN and rule.evaluator in EVALUATED
} - LEFT_TO_THE_SERVER
# The policy permits a script that has the nonce of the page.
LOAD = """new Promise((loaded) => {
  window.loaded = loaded;
  const script = document.createElement("script");
  script.type = "module";
  script.nonce = document.querySelector("script[nonce]").nonce;
  script.textContent = `import { linterOf } from "ADDRESS"; window.linterOf = linterOf; window.loaded();`;
  document.head.append(script);
})"""
NO_SERVER = """
const fetched = globalThis.fetch;
globalThis.fetch = (path, init) => path.endsWith("/modeling/lint") ? new Promise(() => {}) : fetched(path, init);
"""


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


def by_server(model: bytes) -> list[list[str]]:
    found = lint_file("model.bpmn", model)
    return [
        [each.rule_id, each.severity, each.element_id, each.message]
        for each in found
        if each.rule_id in DECIDED
    ]


async def linter(page: Page, addresses: Addresses) -> None:
    """Open a page that has the module and the rules, as the editor has them."""
    await edit(page, addresses, "models/new/process")
    address = await page.run("document.getElementById('editor').dataset.linter")
    await page.run(LOAD.replace("ADDRESS", address))
    await page.run(f"(window.linter = linterOf({json.dumps([message(rule) for rule in LINT_RULES])})) && 1")


async def by_browser(page: Page, models: list[bytes]) -> list[Any]:
    """Return the findings of each model; None for a model that is left to the server."""
    texts = json.dumps([model.decode() for model in models])
    return list(
        await page.run(f"""{texts}.map((text) => linter.lint(text)?.map(
          ({{ ruleId, severity, elementId, message }}) => [ruleId, severity, elementId, message]) ?? null)""")
    )


@needs_editors
async def test_the_browser_decides_rules_of_these_kinds(page: Page, addresses: Addresses) -> None:
    await linter(page, addresses)

    assert set(await page.run("[...linter.decides]")) == DECIDED
    assert len(DECIDED) > 90


@needs_editors
async def test_the_browser_finds_what_the_server_finds_for_each_rule(
    page: Page, addresses: Addresses
) -> None:
    names = sorted(CASES.keys() - {"xml-well-formed"})
    models = [model for name in names for model in (CASES[name].broken, CASES[name].mended)]
    await linter(page, addresses)
    found = await by_browser(page, models)

    broken = {
        finding[0]
        for name, findings in zip(names, found[::2], strict=True)
        for finding in findings or ()
        if finding[0] == name
    }
    differences = [
        (name, here, by_server(model))
        for name, model, here in zip(
            [each for name in names for each in (name, name)], models, found, strict=True
        )
        if (here or []) != by_server(model)
    ]
    assert differences == []
    assert broken == DECIDED


@needs_editors
@pytest.mark.skipif(not MODELS.is_dir(), reason="the folder with models of other projects is absent")
async def test_the_browser_finds_what_the_server_finds_in_real_models(
    page: Page, addresses: Addresses
) -> None:
    files = sorted([*MODELS.glob("*.bpmn"), *(ROOT / "examples").rglob("*.bpmn")])
    await linter(page, addresses)
    found = await by_browser(page, [file.read_bytes() for file in files])

    assert any(found)
    for file, here in zip(files, found, strict=True):
        assert here == by_server(file.read_bytes()), file.name


@needs_editors
@pytest.mark.parametrize(
    "model",
    [
        pytest.param("<a", id="broken"),
        pytest.param("<definitions/>", id="another namespace"),
        pytest.param('<constructor xmlns="constructor"/>', id="the name of a property"),
        pytest.param(
            '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">'
            + "<process/>" * 5001
            + "</definitions>",
            id="too large",
        ),
    ],
)
async def test_a_file_that_is_no_model_or_too_large_is_left_to_the_server(
    page: Page, addresses: Addresses, model: str
) -> None:
    await linter(page, addresses)

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


@needs_editors
async def test_text_of_a_finding_of_the_browser_is_text(page: Page, addresses: Addresses) -> None:
    await linter(page, addresses)
    model = f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="file">
      <process id="{escaped(HOSTILE)}" isExecutable="true"><startEvent id="{escaped(HOSTILE)}"/></process></definitions>"""
    ((*_, last),) = await by_browser(page, [model.encode()])
    await visit(page, f"{addresses.http}/console/default/models/new/process")

    assert HOSTILE in (last[2], last[3])
