from server.bpmn.builder import process
from server.engine.events import VariableCreated, VariableUpdated
from server.engine.job_commands import CompleteJob
from server.engine.keys import Key
from tests.server.engine.scenario import Scenario


def test_start_variables_stand_at_the_root(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a"))

    engine.start(total=5, note=None, items=[1, {"x": 2.5}])

    assert engine.variables() == {"total": 5, "note": None, "items": [1, {"x": 2.5}]}


def test_numbers_keep_every_digit(engine: Scenario) -> None:
    digits = "1.0000000000000000000000000000001"
    engine.deploy(process("order").service_task("a", type="a").end()).start()

    engine.execute(CompleteJob("default", engine.job("a").key, {"x": digits}))

    assert [event.value for event in engine.happened(VariableCreated)] == [digits]


def test_the_same_value_again_is_no_event(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").service_task("b", type="b"))

    engine.start(total=5).complete("a", total=5).complete("b", total=6)

    (updated,) = engine.happened(VariableUpdated)
    assert (updated.name, updated.value, updated.scope_key) == ("total", "6", engine.instance_key)


def test_an_updated_variable_keeps_its_key(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a")).start(total=5)

    engine.complete("a", total=6)

    (created,), (updated,) = engine.happened(VariableCreated), engine.happened(VariableUpdated)
    assert created.key == updated.key


def test_a_local_variable_hides_the_outer_one_from_the_task_alone(engine: Scenario) -> None:
    builder = (
        process("order").parallel_gateway("fork").service_task("a", type="a", inputs={"x": "=x + 1"}).end()
    )
    engine.deploy(builder.branch("fork").service_task("b", type="b").end()).start(x=1)

    (a,), (b,) = engine.activate("a"), engine.activate("b")

    assert (a.variables, b.variables) == ({"x": "2"}, {"x": "1"})


def test_parallel_instances_of_one_task_have_scopes_of_their_own(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("fork").service_task("a", type="a", inputs={"x": "=n"}).end()
    engine.deploy(builder.branch("fork").connect_to("a")).start(n=1)
    first, second = engine.instance.jobs.values()

    engine.execute(CompleteJob("default", first.key, {"x": "7"}))

    assert engine.variables(first.element_instance_key) == {"x": 7}
    assert engine.variables(second.element_instance_key) == {"x": 1}
    assert engine.instance.variables.keys() == {engine.instance_key, second.element_instance_key}


def test_variables_of_an_element_end_with_it(engine: Scenario) -> None:
    builder = (
        process("order").service_task("a", type="a", inputs={"secret": "=1"}).service_task("b", type="b")
    )
    engine.deploy(builder).start().complete("a")

    (job,) = engine.activate("b")

    assert job.variables == {}


def test_a_condition_sees_what_the_jobs_said(engine: Scenario) -> None:
    builder = process("order").service_task("a", type="a").exclusive_gateway("decide")
    builder.flow(condition="=answer.ok and total > 1").end("yes").branch("decide").flow(default=True).end(
        "no"
    )

    engine.deploy(builder).start(total=5).complete("a", answer={"ok": True})

    assert engine.path[-1] == "yes"


def test_a_name_that_feel_could_not_read_is_kept(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a")).start(**{"a b": 1, "": 2, "if": 3})

    (job,) = engine.activate("a")

    assert job.variables == {"a b": "1", "": "2", "if": "3"}


def test_keys_of_variables_are_their_own(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a")).start(x=1, y=2)

    keys = [event.key for event in engine.happened(VariableCreated)]

    assert len({*keys, engine.instance_key, Key(0)}) == 4
