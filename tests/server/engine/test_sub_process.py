from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.engine import events
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from tests.server.engine.scenario import Scenario


def order(**mappings: dict[str, str]) -> ProcessBuilder:
    inner = sub_process("pack").service_task("wrap", type="wrap").end("packed")
    outer = process("order").embed(
        inner, inputs=mappings.get("inputs", {}), outputs=mappings.get("outputs", {})
    )
    return outer.service_task("ship", type="ship").end("done")


def test_a_sub_process_waits_for_what_runs_inside_it(engine: Scenario) -> None:
    engine.deploy(order()).start()

    assert engine.element("pack").state is ElementState.ACTIVATED
    assert engine.element("wrap").scope_key == engine.element("pack").key

    engine.complete("wrap")

    assert engine.path == ["start", "pack_start", "wrap", "packed", "pack"]
    assert engine.offered == ["ship"]


def test_an_instance_completes_after_its_sub_processes(engine: Scenario) -> None:
    engine.deploy(order()).start().complete("wrap").complete("ship")

    assert engine.path[-3:] == ["pack", "ship", "done"]
    assert engine.is_completed


def test_sub_processes_nest(engine: Scenario) -> None:
    innermost = sub_process("inner").service_task("wrap", type="wrap").end()
    middle = sub_process("middle").embed(innermost).end()
    engine.deploy(process("order").embed(middle).end("done")).start().complete("wrap")

    assert engine.path[-6:] == ["wrap", "inner_end", "inner", "middle_end", "middle", "done"]
    assert engine.is_completed


def test_a_sub_process_ends_when_its_last_path_does(engine: Scenario) -> None:
    inner = (
        sub_process("pack").parallel_gateway("split")
        .service_task("wrap", type="wrap").end("wrapped")
        .branch("split").service_task("label", type="label").end("labelled")
    )  # fmt: skip
    engine.deploy(process("order").embed(inner).end("done")).start()

    engine.complete("label")
    assert engine.element("pack").state is ElementState.ACTIVATED

    engine.complete("wrap")
    assert engine.is_completed


def test_variables_of_a_sub_process_are_its_own(engine: Scenario) -> None:
    engine.deploy(order(inputs={"box": '="small"'}, outputs={"parcel": "=box"})).start(box="large")

    (job,) = engine.activate("wrap")
    assert job.variables["box"] == '"small"'

    engine.advance(job.deadline - engine.now).complete("wrap", box="tiny")

    assert engine.variables() == {"box": "large", "parcel": "tiny"}


def test_a_sub_process_without_output_mappings_propagates_none_of_its_variables(engine: Scenario) -> None:
    engine.deploy(order(inputs={"box": '="small"'})).start(box="large")
    pack = engine.element("pack").key

    engine.complete("wrap", box="tiny")

    assert engine.variables(pack) == {"box": "tiny"}
    assert engine.variables() == {"box": "large"}


def test_a_failing_mapping_of_a_sub_process_is_repaired_by_resolving(engine: Scenario) -> None:
    engine.deploy(order(inputs={"box": "=assert(size, size != null)"})).start()

    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    assert engine.offered == []


def test_cancelling_ends_a_sub_process_from_the_inside_out(engine: Scenario) -> None:
    engine.deploy(order()).start()
    keys = {engine.element(name).key: name for name in ("wrap", "pack")}

    engine.cancel()

    ended = [keys.get(event.key, "order") for event in engine.happened(events.ElementTerminated)]
    assert ended == ["wrap", "pack", "order"]
    assert engine.is_terminated


def test_a_parallel_join_counts_in_its_own_scope(engine: Scenario) -> None:
    """A loop enters the sub-process anew while nothing of the earlier round is left."""
    inner = (
        sub_process("pack").parallel_gateway("split").task("a").parallel_gateway("join").end("packed")
        .branch("split").task("b").connect_to("join")
    )  # fmt: skip
    outer = (
        process("order").exclusive_gateway("merge").embed(inner).service_task("check", type="check")
        .exclusive_gateway("again").flow(condition="=again").connect_to("merge")
        .branch("again").flow(default=True).end("done")
    )  # fmt: skip
    engine.deploy(outer).start().complete("check", again=True).complete("check", again=False)

    assert engine.path.count("join") == 2
    assert engine.is_completed
