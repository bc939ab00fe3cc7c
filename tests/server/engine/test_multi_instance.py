"""Multi-instance activities (BPMN 2.0.2 §13.3.7)."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from server.bpmn.builder import ProcessBuilder, definitions, process, sub_process
from server.engine import process as process_command
from server.engine.documents import changed_pages
from server.engine.incidents import ErrorType
from server.engine.job_commands import CompleteJob, ThrowJobError
from server.engine.lifecycle import ElementState
from server.engine.limits import DEFAULT_LIMITS, EngineLimits
from server.engine.pages import DocumentId, Kind
from server.engine.process_instance import ElementInstance
from server.engine.process_instance_commands import CreateProcessInstance
from server.engine.rejection import RejectionType
from server.store import entities
from tests.server.engine.scenario import Scenario, texts

if TYPE_CHECKING:
    from server.engine.answers import CreatedInstance

BODY = "MULTI_INSTANCE_BODY"


def repeated(collection: str = "=items", **loop: Any) -> ProcessBuilder:
    """A multi-instance service task `each`, with a task `correct` at its side."""
    builder = process("order").service_task("each", type="each").multi_instance(collection, **loop).end()
    return builder.branch("start").service_task("correct", type="correct").end()


def instances_of(engine: Scenario) -> list[ElementInstance]:
    """The inner instances of `each` that are there, the oldest first."""
    found = [each for each in engine.instance.elements.values() if each.element_id == "each"]
    return [each for each in found if each.type != BODY]


def locals_of(engine: Scenario) -> list[object]:
    return [engine.variables(each.key) for each in instances_of(engine)]


# Instances


def test_a_parallel_activity_has_an_instance_for_each_item_at_once(engine: Scenario) -> None:
    engine.deploy(repeated(element="item"))

    engine.start(items=["a", "b"])

    assert locals_of(engine) == [{"loopCounter": 1, "item": "a"}, {"loopCounter": 2, "item": "b"}]
    body = engine.element("each")
    assert (body.type, body.state) == (BODY, ElementState.ACTIVATED)
    assert [each.scope_key for each in instances_of(engine)] == [body.key, body.key]
    assert engine.offered == ["correct", "each", "each"] or sorted(engine.offered) == [
        "correct",
        "each",
        "each",
    ]


def test_a_sequential_activity_has_one_instance_after_the_other(engine: Scenario) -> None:
    engine.deploy(repeated(element="item", sequential=True)).start(items=["a", "b"])
    first = locals_of(engine)

    engine.complete("each")

    assert first == [{"loopCounter": 1, "item": "a"}]
    assert locals_of(engine) == [{"loopCounter": 2, "item": "b"}]


@pytest.mark.parametrize("sequential", [False, True])
def test_the_body_completes_after_its_last_instance(engine: Scenario, *, sequential: bool) -> None:
    engine.deploy(repeated(sequential=sequential)).start(items=[1, 2])

    engine.complete("each").complete("each").complete("correct")

    assert engine.path.count("each") == 3
    assert engine.is_completed


@pytest.mark.parametrize("sequential", [False, True])
def test_an_empty_collection_completes_the_body_at_once(engine: Scenario, *, sequential: bool) -> None:
    engine.deploy(repeated(sequential=sequential, output="=1", outputs_to="results"))

    engine.start(items=[])

    assert engine.path.count("each") == 1
    assert engine.variables()["results"] == []


def test_the_input_collection_is_evaluated_once(engine: Scenario) -> None:
    engine.deploy(repeated(element="item", sequential=True)).start(items=["a", "b"])

    engine.complete("each", items=["x", "y", "z"])

    assert locals_of(engine) == [{"loopCounter": 2, "item": "b"}]


@pytest.mark.parametrize("sequential", [False, True])
def test_tasks_that_are_passed_and_scripts_are_repeated(engine: Scenario, *, sequential: bool) -> None:
    square = process("order").script_task("square", expression="=item * item", result="squared")
    square.multi_instance(
        "=[1, 2, 3]", element="item", sequential=sequential, output="=squared", outputs_to="all"
    )
    engine.deploy(square.task("pass").multi_instance("=[1, 2]", sequential=sequential).end())

    engine.start()

    assert engine.variables() == {"all": [1, 4, 9]}
    assert (engine.path.count("square"), engine.path.count("pass")) == (4, 3)


@pytest.mark.parametrize("sequential", [False, True])
def test_a_sub_process_is_repeated_with_all_that_is_in_it(engine: Scenario, *, sequential: bool) -> None:
    inside = sub_process("pack").service_task("wrap", type="=item").end()
    packing = (
        process("order").embed(inside).multi_instance('=["a", "b"]', element="item", sequential=sequential)
    )
    engine.deploy(packing.end())

    engine.start().complete("a").complete("b")

    assert engine.path.count("wrap") == 2
    assert engine.is_completed


def test_an_inclusive_gateway_joins_in_each_instance_of_a_sub_process(engine: Scenario) -> None:
    inside = sub_process("pack").node("inclusiveGateway", "split")
    inside.flow(condition="=true").service_task("a", type="a").node("inclusiveGateway", "join").end("packed")
    inside.branch("split").flow(condition="=true").service_task("b", type="b").connect_to("join")
    engine.deploy(process("order").embed(inside).multi_instance("=[1, 2]").end()).start()

    engine.complete("a").complete("a").complete("b")
    joined = engine.path.count("packed")
    engine.complete("b")

    assert joined == 1
    assert engine.path.count("join") == 2
    assert engine.is_completed


def test_activities_are_repeated_inside_each_other(engine: Scenario) -> None:
    inside = sub_process("rows").script_task("cell", expression="=row + column", result="sum")
    inside.multi_instance("=[1, 2]", element="column", output="=sum", outputs_to="cells").end()
    outer = (
        process("order")
        .embed(inside)
        .multi_instance("=[10, 20]", element="row", output="=cells", outputs_to="all")
    )

    engine.deploy(outer.end()).start()

    assert engine.variables()["all"] == [[11, 12], [21, 22]]


# Outputs


def test_outputs_have_the_order_of_the_items(engine: Scenario) -> None:
    engine.deploy(repeated(output="=result", outputs_to="results")).start(items=["a", "b", "c"])
    keys = [job.key for job in engine.instance.jobs.values() if job.type == "each"]

    for place in (2, 0, 1):
        engine.execute(CompleteJob(engine.tenant_id, keys[place], texts({"result": place})))

    assert engine.variables()["results"] == [0, 1, 2]
    assert "result" not in engine.variables()


def test_an_output_that_nobody_set_is_null(engine: Scenario) -> None:
    engine.deploy(repeated(output="=result.total", outputs_to="results")).start(items=[1], result="other")

    engine.complete("each")

    assert engine.variables()["results"] == [None]


@pytest.mark.parametrize("output", ["=result", "=result.total"])
def test_the_variable_of_the_output_is_local_to_each_instance_and_null_at_first(
    engine: Scenario, output: str
) -> None:
    engine.deploy(repeated(output=output, outputs_to="results"))

    engine.start(items=["a", "b"], result={"total": 1})

    assert locals_of(engine) == [{"loopCounter": 1, "result": None}, {"loopCounter": 2, "result": None}]


def test_the_output_collection_is_a_variable_of_the_body_and_of_the_scope_around(engine: Scenario) -> None:
    engine.deploy(repeated(output="=loopCounter", outputs_to="results")).start(items=["a"], results="old")
    body = engine.element("each").key

    engine.complete("each")

    assert engine.variables(body) == {"results": [1]}
    assert engine.variables()["results"] == [1]


# Mappings and listeners


def test_mappings_and_listeners_are_those_of_each_instance(engine: Scenario) -> None:
    task = process("order").service_task(
        "each", type="each", inputs={"item": "=item.name"}, outputs={"answer": "=item + reply"}
    )
    task.execution_listener("start", type="audit").execution_listener("end", type="audit")
    task.multi_instance("=items", element="item", output="=answer", outputs_to="answers")
    engine.deploy(task.end()).start(items=[{"name": "a"}, {"name": "b"}])
    before = engine.offered

    engine.complete("audit").complete("audit")
    engine.complete("each", reply="!").complete("each", reply="?")
    engine.complete("audit").complete("audit")

    assert before == ["each", "each"]
    assert engine.variables()["answers"] == ["a!", "b?"]
    assert engine.is_completed


# Completion condition


def test_a_condition_that_holds_terminates_the_others_and_completes_the_body(engine: Scenario) -> None:
    engine.deploy(repeated(output="=loopCounter", outputs_to="done", until="=numberOfCompletedInstances = 2"))
    engine.start(items=["a", "b", "c", "d"])

    engine.complete("each").complete("each")

    assert engine.variables()["done"] == [1, 2, None, None]
    assert engine.offered == ["correct"]
    rows = [row for row in engine.rows.all(entities.ElementInstance) if row.element_id == "each"]
    states = [(row.type, row.state) for row in rows]
    assert states.count(("SERVICE_TASK", entities.ElementInstanceState.TERMINATED)) == 2
    assert states.count((BODY, entities.ElementInstanceState.COMPLETED)) == 1


def test_a_condition_that_holds_ends_a_sequence(engine: Scenario) -> None:
    engine.deploy(repeated(sequential=True, until="=stop")).start(items=["a", "b", "c"], stop=False)

    engine.complete("each").complete("each", stop=True)

    assert engine.offered == ["correct"]
    assert engine.path.count("each") == 3


@pytest.mark.parametrize("sequential", [False, True])
def test_the_condition_sees_the_counters(engine: Scenario, *, sequential: bool) -> None:
    names = ("numberOfInstances", "numberOfActiveInstances", "numberOfCompletedInstances")
    seen = f"=assert(false, [{', '.join((*names, 'numberOfTerminatedInstances'))}] = expected)"
    engine.deploy(repeated(sequential=sequential, until=seen))
    engine.start(items=["a", "b", "c"], expected=[1, 0, 1, 0] if sequential else [3, 2, 1, 0])

    engine.complete("each")

    assert engine.instance.incidents == {}


def test_the_counters_hide_variables_of_their_names(engine: Scenario) -> None:
    engine.deploy(repeated(until="=numberOfCompletedInstances = 2 and numberOfInstances = 3"))
    engine.start(items=["a", "b", "c"], numberOfCompletedInstances=2, numberOfInstances=3)

    engine.complete("each")
    before = len(instances_of(engine))
    engine.complete("each")

    assert (before, instances_of(engine)) == (2, [])


def test_the_condition_sees_the_outputs_so_far(engine: Scenario) -> None:
    until = "=count(votes[item = true]) = 2"
    engine.deploy(repeated(output="=vote", outputs_to="votes", until=until)).start(items=[1, 2, 3, 4])

    engine.complete("each", vote=True).complete("each", vote=False).complete("each", vote=True)

    assert engine.variables()["votes"] == [True, False, True, None]


# Incidents


@pytest.mark.parametrize(
    ("loop", "variables"),
    [
        pytest.param({"collection": "=items"}, {"items": "none"}, id="no collection"),
        pytest.param({"collection": "=assert(items, false)"}, {"items": 1}, id="collection fails"),
    ],
)
def test_a_collection_that_is_none_is_an_incident_of_the_body(
    engine: Scenario, loop: dict[str, str], variables: dict[str, object]
) -> None:
    engine.deploy(repeated(**loop)).start(**variables)

    incident = engine.incident

    assert (incident.element_id, incident.error_type) == ("each", ErrorType.EXTRACT_VALUE_ERROR)
    assert engine.element("each").type == BODY
    assert engine.element("each").state is ElementState.ACTIVATING


def test_the_body_goes_on_when_the_collection_is_mended(engine: Scenario) -> None:
    engine.deploy(repeated(element="item")).start(items="none")

    engine.complete("correct", items=["a"]).resolve()

    assert locals_of(engine) == [{"loopCounter": 1, "item": "a"}]


@pytest.mark.parametrize(
    "loop",
    [
        pytest.param({"output": "=assert(x, x > 0)", "outputs_to": "xs"}, id="output element"),
        pytest.param({"until": "=x > 0"}, id="completion condition"),
    ],
)
def test_an_instance_that_cannot_tell_its_output_waits_for_it(engine: Scenario, loop: dict[str, str]) -> None:
    engine.deploy(repeated(**loop)).start(items=["a"], x="none").complete("each")
    incident = engine.incident

    engine.complete("correct", x=1).resolve()

    assert (incident.element_id, incident.error_type) == ("each", ErrorType.EXTRACT_VALUE_ERROR)
    assert engine.is_completed


def test_mappings_are_not_applied_again_after_an_incident(engine: Scenario) -> None:
    task = process("order").service_task("each", type="each", outputs={"count": "=count + 1"})
    task.multi_instance("=[1]", output="=assert(x, x > 0)", outputs_to="xs").end()
    engine.deploy(task.branch("start").service_task("correct", type="correct").end())
    engine.start(count=0, x=0).complete("each")

    engine.complete("correct", x=1).resolve()

    assert engine.variables()["count"] == 1


def test_a_collection_has_so_many_items_at_most(engine: Scenario) -> None:
    most = DEFAULT_LIMITS.loop_items
    engine.deploy(repeated("=for x in 1..size return x", sequential=True))

    engine.start(size=most)
    fits = len(instances_of(engine))
    engine.start(size=most + 1)

    assert fits == 1
    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert (
        engine.incident.message == f"Expected an input collection of at most {most} items, found {most + 1}"
    )


def test_many_instances_are_activated_in_slices() -> None:
    most = DEFAULT_LIMITS.loop_items
    engine = Scenario().deploy(
        repeated("=for x in 1..size return x", output="=loopCounter", outputs_to="all")
    )
    start = CreateProcessInstance(
        tenant_id=engine.tenant_id, process_definition_id="order", variables=texts({"size": most})
    )

    outcome = process_command(engine.state, start, engine.now)
    engine.instance_key = cast("CreatedInstance", outcome.answer).head.key
    at_once = len(engine.instance.elements)
    engine.happens(outcome.events)
    engine.deploy(process("other").end())

    (instance,) = [each for each in engine.state.instances.values() if each.items]
    assert at_once < most // 10
    assert len(instance.jobs) == most + 1


@pytest.mark.parametrize("loop", [{}, {"output": "=result", "outputs_to": "all"}], ids=["plain", "output"])
def test_completing_an_instance_writes_the_same_however_many_there_are(loop: dict[str, str]) -> None:
    octets = [octets_of_a_completion(size, loop) for size in (40, 2_000)]

    assert octets[1] < octets[0] * 2


def octets_of_a_completion(size: int, loop: dict[str, str]) -> int:
    """The pages that a commit writes of an instance that was divided into pages."""
    engine = Scenario(limits=EngineLimits(whole_records=0))
    engine.deploy(repeated("=for x in 1..size return x", **loop)).start(size=size)
    document = DocumentId(Kind.PROCESS_INSTANCE, engine.instance_key)
    changed_pages(engine.state, document, set())
    jobs = [job for job in engine.instance.jobs.values() if job.type == "each"]
    command = CompleteJob(engine.tenant_id, jobs[size // 2].key, texts({"result": 1}))

    outcome = process_command(engine.state, command, engine.now)

    pages = changed_pages(engine.state, document, outcome.changed[document])
    assert pages is not None
    return sum(len(page.content) for page in pages.values() if page is not None)


# Events


def test_a_boundary_event_interrupts_the_body_with_all_instances(engine: Scenario) -> None:
    builder = repeated().boundary_timer("late", on="each", duration="PT1M").end("too_late")
    engine.deploy(builder).start(items=["a", "b"])

    engine.advance(timedelta(minutes=1))

    assert engine.offered == ["correct"]
    assert "too_late" in engine.path
    assert len(engine.instance.items) == 0


def test_an_error_of_one_instance_is_caught_at_the_body(engine: Scenario) -> None:
    builder = repeated().boundary_error("failed", on="each").end("caught")
    engine.deploy(definitions(builder)).start(items=["a", "b"])
    job = engine.job("each")

    engine.execute(ThrowJobError(tenant_id=engine.tenant_id, job_key=job.key, error_code="x"))

    assert engine.offered == ["correct"]
    assert "caught" in engine.path


def test_cancelling_ends_every_instance(engine: Scenario) -> None:
    engine.deploy(repeated()).start(items=["a", "b"])

    engine.cancel()

    assert engine.is_terminated


# Migration


def test_an_active_body_is_migrated_with_its_instances(engine: Scenario) -> None:
    new = (
        process("new")
        .service_task("every", type="new")
        .multi_instance("=[]", output="=loopCounter", outputs_to="all")
    )
    engine.deploy(repeated()).deploy(new.end().branch("start").service_task("correct", type="correct").end())
    engine.start("order", items=["a", "b"])

    engine.migrate("new", {"each": "every", "correct": "correct"}).complete("each").complete("each")

    assert engine.variables()["all"] == [1, 2]
    assert engine.path.count("every") == 0


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(repeated(sequential=True), id="sequential"),
        pytest.param(
            process("order")
            .service_task("each", type="each")
            .end()
            .branch("start")
            .service_task("correct", type="correct")
            .end(),
            id="once",
        ),
    ],
)
def test_an_activity_stays_as_it_is_repeated(engine: Scenario, target: ProcessBuilder) -> None:
    engine.deploy(repeated()).start(items=["a"]).deploy(target)

    refusal = engine.refusal(engine.migration("order", {"each": "each", "correct": "correct"}))

    assert refusal.type is RejectionType.INVALID_STATE


def test_a_blank_completion_condition_is_none(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").multi_instance("=[1, 2]", until=" ").end())

    engine.start().complete("a").complete("a")

    assert engine.is_completed
