"""History of process instances that have ended is deleted."""

from server.bpmn.builder import process
from server.engine import process_instance_commands
from server.engine.keys import Key
from server.engine.rejection import RejectionType
from server.store.entities import ElementInstance, Job, ProcessInstance, Variable
from tests.server.engine.scenario import Scenario

ROWS = (ProcessInstance, ElementInstance, Job, Variable)


def deletion(key: Key) -> process_instance_commands.DeleteProcessInstance:
    return process_instance_commands.DeleteProcessInstance("default", key, is_stored=True)


def kept(engine: Scenario) -> set[Key]:
    """Process instances that have rows of any kind."""
    return {row.process_instance_key for kind in ROWS for row in engine.rows.all(kind)}


def test_an_ended_process_instance_is_deleted_with_all_its_rows(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("ship", type="ship").end())
    first = engine.start(x=1).complete("ship").instance_key
    other = engine.start(x=1).complete("ship").instance_key
    assert kept(engine) == {first, other}

    engine.execute(deletion(first))

    assert kept(engine) == {other}


def test_a_process_instance_that_runs_is_not_deleted(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("ship", type="ship").end()).start()

    refusal = engine.refusal(deletion(engine.instance_key))

    assert refusal.type is RejectionType.INVALID_STATE
    assert str(engine.instance_key) in refusal.reason
    assert kept(engine) == {engine.instance_key}


def test_a_process_instance_of_which_the_store_has_nothing_is_not_found(engine: Scenario) -> None:
    refusal = engine.refusal(
        process_instance_commands.DeleteProcessInstance("default", Key(7), is_stored=False)
    )

    assert refusal.type is RejectionType.NOT_FOUND


def test_a_called_process_instance_stays_when_its_caller_is_deleted(engine: Scenario) -> None:
    engine.deploy(process("order").end())
    engine.deploy(process("calling").call_activity("call", process="order").end())
    engine.start("calling")
    called = {row.process_instance_key for row in engine.rows.all(ProcessInstance)} - {engine.instance_key}

    engine.execute(deletion(engine.instance_key))

    assert kept(engine) == called
    assert len(called) == 1


def test_a_called_process_instance_that_has_ended_is_deleted_while_its_caller_runs(engine: Scenario) -> None:
    engine.deploy(process("order").end())
    calling = process("calling").call_activity("call", process="order").service_task("ship", type="ship")
    engine.deploy(calling.end())
    engine.start("calling")
    root = engine.instance_key
    (called,) = {row.process_instance_key for row in engine.rows.all(ProcessInstance)} - {root}

    engine.execute(deletion(called))

    assert kept(engine) == {root}
    engine.complete("ship")
    assert engine.state.instances == {}
