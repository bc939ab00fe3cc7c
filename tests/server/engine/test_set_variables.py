"""Variables that somebody sets at a scope that is active."""

import pytest

from server.bpmn.builder import process, sub_process
from server.engine.events import VariableCreated, VariableUpdated
from server.engine.keys import Key
from server.engine.process_instance_commands import SetVariables
from server.engine.rejection import RejectionType
from tests.server.engine.scenario import Scenario, texts

NESTED = (
    process("order")
    .start()
    .embed(
        sub_process("packing").start().service_task("wrap", type="wrap", inputs={"colour": "red"}).end(),
        inputs={"size": "=3"},
    )
    .end()
)


@pytest.fixture
def packing(engine: Scenario) -> Scenario:
    """`size` lies at the sub-process, `colour` at the task inside it, `total` at the process instance."""
    return engine.deploy(NESTED).start(total=5)


def setting(
    engine: Scenario, element_instance_key: Key, *, is_local: bool = False, **variables: object
) -> SetVariables:
    return SetVariables(
        tenant_id="default",
        process_instance_key=engine.instance_key,
        element_instance_key=element_instance_key,
        variables=texts(variables),
        is_local=is_local,
    )


def test_each_changes_the_innermost_variable_of_its_name(packing: Scenario) -> None:
    task, scope = packing.element("wrap").key, packing.element("packing").key

    packing.execute(setting(packing, task, colour="blue", size=4, total=6))

    assert packing.variables(task) == {"colour": "blue"}
    assert packing.variables(scope) == {"size": 4}
    assert packing.variables() == {"total": 6}


def test_a_new_name_becomes_a_variable_of_the_process_instance(packing: Scenario) -> None:
    packing.execute(setting(packing, packing.element("wrap").key, note="fragile"))

    assert packing.variables() == {"total": 5, "note": "fragile"}


def test_inner_variables_of_the_name_are_left_alone(packing: Scenario) -> None:
    packing.execute(setting(packing, packing.element("packing").key, colour="blue"))

    assert packing.variables(packing.element("wrap").key) == {"colour": "red"}
    assert packing.variables() == {"total": 5, "colour": "blue"}


def test_local_variables_stay_at_the_element_instance(packing: Scenario) -> None:
    task = packing.element("wrap").key

    packing.execute(setting(packing, task, is_local=True, total=7))

    assert packing.variables(task) == {"colour": "red", "total": 7}
    assert packing.variables() == {"total": 5}


def test_a_process_instance_is_named_by_its_own_key(packing: Scenario) -> None:
    packing.execute(setting(packing, packing.instance_key, total=None))

    assert packing.variables() == {"total": None}


def test_what_a_worker_gets_next_is_what_was_set(packing: Scenario) -> None:
    packing.execute(setting(packing, packing.element("wrap").key, colour="blue"))

    (job,) = packing.activate("wrap")
    assert job.variables == {"colour": '"blue"', "size": "3", "total": "5"}


def test_the_same_value_again_is_no_event(packing: Scenario) -> None:
    packing.execute(setting(packing, packing.instance_key, total=5))

    assert packing.last_events == []


def test_a_key_that_names_nothing_active_is_refused(packing: Scenario) -> None:
    task = packing.element("wrap").key
    packing.complete("wrap")

    for key in (task, packing.instance_key, Key(42)):
        assert packing.refusal(setting(packing, key, total=6)).type is RejectionType.NOT_FOUND


def test_an_element_of_another_process_instance_is_refused(packing: Scenario) -> None:
    foreign = packing.element("wrap").key
    packing.start()

    refused = packing.refusal(setting(packing, foreign, total=6))

    assert refused.type is RejectionType.NOT_FOUND


def test_another_tenant_finds_nothing_to_set(packing: Scenario) -> None:
    command = SetVariables(
        tenant_id="other",
        process_instance_key=packing.instance_key,
        element_instance_key=packing.instance_key,
        variables={"total": "6"},
    )

    assert packing.refusal(command).type is RejectionType.NOT_FOUND
    assert packing.variables() == {"total": 5}


def test_a_name_that_was_new_has_a_key_that_stays(packing: Scenario) -> None:
    packing.execute(setting(packing, packing.instance_key, note="a"))
    packing.execute(setting(packing, packing.instance_key, note="b"))

    (created,) = [event for event in packing.happened(VariableCreated) if event.name == "note"]
    (updated,) = packing.happened(VariableUpdated)
    assert updated.key == created.key
