from server.bpmn.builder import process, sub_process
from server.engine import events
from server.engine.incidents import ErrorType
from server.engine.limits import EngineLimits
from tests.server.engine.scenario import Scenario


def test_a_link_jumps_to_the_event_that_catches_its_name(engine: Scenario) -> None:
    builder = process("order").throw_link("off", link="there").catch_link("other", link="elsewhere").end()
    engine.deploy(builder.catch_link("on", link="there").service_task("go", type="go").end()).start()

    assert engine.path == ["start", "off", "on"]
    assert engine.complete("go").is_completed


def test_a_jump_takes_no_sequence_flow(engine: Scenario) -> None:
    engine.deploy(
        process("order").throw_link("off", link="there").catch_link("on", link="there").end()
    ).start()

    flows = [event.flow_id for event in engine.happened(events.SequenceFlowTaken)]

    assert flows == ["start_to_off", "on_to_end"]


def test_several_links_jump_to_one_event_which_is_entered_for_each(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("split").throw_link("one", link="x").branch("split")
    builder.throw_link("two", link="x").catch_link("on", link="x").service_task("go", type="go").end()
    engine.deploy(builder).start()

    assert engine.offered == ["go", "go"]


def test_a_scope_does_not_end_while_a_link_jumps(engine: Scenario) -> None:
    inner = sub_process("pack").parallel_gateway("split").throw_link("off", link="x").branch("split").end()
    inner.catch_link("on", link="x").service_task("go", type="go").end()
    engine.deploy(process("order").embed(inner).end("done")).start()

    assert engine.offered == ["go"]
    assert engine.complete("go").path[-1] == "done"


def test_links_that_jump_in_a_circle_are_an_incident() -> None:
    engine = Scenario(limits=EngineLimits(activations=100))
    engine.deploy(
        process("order").throw_link("off", link="x").catch_link("on", link="x").connect_to("off")
    ).start()

    assert engine.incident.error_type is ErrorType.UNKNOWN
