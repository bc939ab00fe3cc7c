from pathlib import Path

import pytest

from server.bpmn.compile import compile_definitions
from server.bpmn.reader import read
from server.forms import read as read_form
from server.lint.linter import describe, lint, lint_form, refusals

MODELS = Path(__file__).parents[3].parent / "shared" / "data" / "models" / "bpmn"
FILES = sorted(MODELS.glob("*.bpmn"))
FORMS = sorted((MODELS.parent / "form").glob("*.form"))

DEPLOYABLE = {
    "camunda-8-benchmark__complex_process.bpmn",
    "camunda-8-benchmark__complex_subprocess.bpmn",
    "camunda-8-benchmark__typical_process.bpmn",
    "camunda-8-js-sdk__BpmnParser2.bpmn",
    "camunda-8-js-sdk__Client-DeployWorkflow.bpmn",
    "camunda-8-js-sdk__Client-ThrowError-2.bpmn",
    "camunda-8-js-sdk__Client-ThrowError.bpmn",
    "camunda-8-js-sdk__Red-Tenant-Process.bpmn",
    "camunda-8-js-sdk__Worker-Failure-Backoff.bpmn",
    "camunda-8-js-sdk__Worker-Failure1.bpmn",
    "camunda-8-js-sdk__conditional-pathway-10c.bpmn",
    "camunda-8-js-sdk__conditional-pathway-wi.bpmn",
    "camunda-8-js-sdk__connector_test.bpmn",
    "camunda-8-js-sdk__test-tasks-query.bpmn",
    "camunda-8-js-sdk__test.bpmn",
    "customer-onboarding-ca__customer-onboarding-extended.bpmn",
    "flowing-retail__order-zeebe.bpmn",
    "ticket-booking-camunda__ticket-booking.bpmn",
    "zeebe__ModelWalkerTest.bpmn",
    "zeebe__ZeebeExecutionListenersValidationTest.testElementThatNotSupportExecutionListeners.bpmn",
    "zeebe__ZeebePropertiesTest.bpmn",
    "zeebe__job_model.bpmn",
}
NOT_EXECUTED = {"element-type", "event-definition-type", "extension-type"}
ALSO_BROKEN = {
    "camunda-8-js-sdk__grpc-state-machine.bpmn": {
        "error-reference",
        "escalation-reference",
        "message-throw-implementation",
        "message-reference",
        "signal-reference",
        "sequence-flow-condition",
        "single-none-start-event",
        "sub-process-blank-start",
        "sub-process-start-event",
        "timer-definition",
    },
    "camunda-8-js-sdk__ZBBatchWorker-state-machine.bpmn": {
        "message-throw-implementation",
        "message-reference",
        "signal-reference",
        "sequence-flow-condition",
        "sub-process-blank-start",
        "timer-definition",
    },
    "zeebe__ZeebeExecutionListenersValidationTest.testEventTypeNotDefined.bpmn": {
        "execution-listener-fields"
    },
}

pytestmark = pytest.mark.skipif(not FILES, reason="the folder with models of other projects is absent")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_model_of_another_project_deploys_or_is_refused_by_rules(file: Path) -> None:
    definitions = read(file.read_bytes())

    refusing = {finding.rule_id for finding in refusals(lint(definitions))}

    assert (not refusing) is (file.name in DEPLOYABLE)
    assert refusing - NOT_EXECUTED == ALSO_BROKEN.get(file.name, set())


@pytest.mark.parametrize("name", sorted(DEPLOYABLE))
def test_a_model_that_deploys_compiles(name: str) -> None:
    for executable in compile_definitions(read((MODELS / name).read_bytes())):
        root = executable.root
        starts = [start for start in (root.none_start, *root.starts) if start is not None]

        assert starts
        assert all(start.outgoing for start in starts)


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.name)
def test_a_form_of_another_project_breaks_no_rule(file: Path) -> None:
    assert lint_form(read_form(file.read_bytes())) == ()


def test_a_refused_model_names_its_elements() -> None:
    definitions = read((MODELS / "camunda-8-js-sdk__grpc-state-machine.bpmn").read_bytes())

    text = describe(lint(definitions), "state-machine.bpmn")

    assert "- Element: EndEvent_1qxtpfa (line" in text
    assert "- Element: EndEvent_0srm2o2 (line" in text
