from server.bpmn.builder import ProcessBuilder, process
from server.engine.incidents import ErrorType
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.store import entities
from tests.server.engine.scenario import Scenario

FAILING = '=assert(amount, amount > 0, "no amount")'


def script(expression: str, **mappings: object) -> ProcessBuilder:
    """A script task `sum`, with a task `correct` at its side."""
    builder = process("order").script_task("sum", expression=expression, result="total", **mappings)  # type: ignore[arg-type]
    return builder.end().branch("start").service_task("correct", type="correct").end()


def test_the_result_of_a_script_becomes_a_variable(engine: Scenario) -> None:
    engine.deploy(script("=price * amount"))

    engine.start(price=3, amount=4)

    assert engine.variables() == {"price": 3, "amount": 4, "total": 12}
    assert "sum" in engine.path
    assert engine.offered == ["correct"]


def test_the_result_updates_a_variable_that_is_there(engine: Scenario) -> None:
    engine.deploy(script("=total + 1"))

    engine.start(total=1)

    assert engine.variables() == {"total": 2}


def test_a_script_sees_its_input_mappings(engine: Scenario) -> None:
    engine.deploy(script("=x + 1", inputs={"x": "=amount"}))

    engine.start(amount=1)

    assert engine.variables() == {"amount": 1, "total": 2}


def test_output_mappings_decide_what_the_scope_around_gets(engine: Scenario) -> None:
    engine.deploy(script("=amount + 1", outputs={"next": "=total"}))

    engine.start(amount=1)

    assert engine.variables() == {"amount": 1, "next": 2}


def test_a_script_without_a_value_gives_null(engine: Scenario) -> None:
    engine.deploy(script("=nothing"))

    engine.start()

    assert engine.variables() == {"total": None}


def test_a_script_that_fails_raises_an_incident_and_is_tried_again(engine: Scenario) -> None:
    engine.deploy(script(FAILING)).start(amount=0)
    incident = engine.incident

    engine.complete("correct", amount=7).resolve()

    assert (incident.element_id, incident.error_type) == ("sum", ErrorType.EXTRACT_VALUE_ERROR)
    assert "no amount" in incident.message
    assert engine.variables() == {"amount": 7, "total": 7}
    assert engine.is_completed


def test_resolving_too_early_raises_the_incident_again(engine: Scenario) -> None:
    engine.deploy(script(FAILING)).start(amount=0)
    first = engine.incident.key

    engine.resolve()

    assert engine.incident.key > first
    assert engine.element("sum").state is ElementState.ACTIVATING


def test_a_script_is_not_evaluated_again_when_its_output_mapping_fails(engine: Scenario) -> None:
    engine.deploy(script("=total + 1", outputs={"x": FAILING})).start(total=1, amount=0)

    engine.complete("correct", amount=7).resolve()

    key = next(
        getattr(event, "key", 0) for event in engine.events if getattr(event, "element_id", "") == "sum"
    )
    assert engine.variables(Key(key)) == {"total": 2}
    assert engine.variables()["x"] == 7


def test_a_script_that_takes_too_long_is_an_incident(engine: Scenario) -> None:
    engine.deploy(script("=count(for x in 1..100000 return for y in 1..100000 return x)"))

    engine.start()

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR


def test_an_active_script_task_is_migrated(engine: Scenario) -> None:
    engine.deploy(script(FAILING)).deploy(
        process("new").script_task("other", expression="=8", result="total").end()
        .branch("start").service_task("correct", type="correct").end()
    ).start("order", amount=0)  # fmt: skip

    engine.migrate("new", {"sum": "other", "correct": "correct"}).resolve()

    assert engine.variables() == {"amount": 0, "total": 8}


def test_history_names_the_script_task(engine: Scenario) -> None:
    engine.deploy(script("=1")).start()

    (row,) = [row for row in engine.rows.all(entities.ElementInstance) if row.element_id == "sum"]
    assert (row.type, row.state) == ("SCRIPT_TASK", entities.ElementInstanceState.COMPLETED)
