import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from tests.server.engine.scenario import Scenario


def decision(*conditions: str, default: bool = False) -> ProcessBuilder:
    """Each condition leads to an end event: `flow_1`, `flow_2`, …, the default flow to `otherwise`."""
    builder = process("order").exclusive_gateway("decide")
    if default:
        builder.flow(default=True).end("otherwise")
    for number, condition in enumerate(conditions, start=1):
        builder.branch("decide").flow(condition=condition).end(f"flow_{number}")
    return builder


def corrected_later(gateway: ProcessBuilder) -> ProcessBuilder:
    """The same with a task at its side that can change variables while the gateway waits."""
    return gateway.branch("start").service_task("correct", type="correct").end()


def test_the_first_condition_that_holds_wins(engine: Scenario) -> None:
    engine.deploy(decision("=total > 100", "=total > 10", "=total > 1"))

    assert engine.start(total=50).path == ["start", "decide", "flow_2"]


def test_conditions_after_the_first_that_holds_are_not_evaluated(engine: Scenario) -> None:
    engine.deploy(decision("=true", '="no condition"'))

    assert engine.start().path[-1] == "flow_1"


def test_the_default_flow_is_taken_when_no_condition_holds(engine: Scenario) -> None:
    engine.deploy(decision("=total > 100", default=True))

    assert engine.start(total=1).path[-1] == "otherwise"


def test_the_default_flow_waits_for_all_conditions_wherever_it_stands(engine: Scenario) -> None:
    engine.deploy(decision("=total > 100", default=True))

    assert engine.start(total=1000).path[-1] == "flow_1"


def test_a_single_flow_needs_no_condition(engine: Scenario) -> None:
    engine.deploy(process("order").exclusive_gateway("merge").end())

    assert engine.start().is_completed


def test_without_a_flow_the_path_ends(engine: Scenario) -> None:
    engine.deploy(process("order").exclusive_gateway("last"))

    assert engine.start().is_completed


def test_the_gateway_lets_every_arrival_through(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("fork").exclusive_gateway("merge").task("after").end()

    engine.deploy(builder.branch("fork").connect_to("merge")).start()

    assert engine.path == ["start", "fork", "merge", "merge", "after", "after", "end", "end"]
    assert engine.is_completed


def test_no_true_condition_and_no_default_flow_raises_an_incident(engine: Scenario) -> None:
    engine.deploy(decision("=total > 100")).start(total=1)

    assert (engine.incident.error_type, engine.incident.message) == (
        ErrorType.CONDITION_ERROR,
        "Expected at least one condition to evaluate to true, or to have a default flow",
    )
    assert engine.element("decide").state is ElementState.COMPLETING


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("=1", "Expected result of the expression '1' to be 'BOOLEAN', but was 'NUMBER'."),
        ('="x"', "Expected result of the expression '\"x\"' to be 'BOOLEAN', but was 'STRING'."),
        ("={}", "Expected result of the expression '{}' to be 'BOOLEAN', but was 'OBJECT'."),
        ("=[1..2]", "Expected result of the expression '[1..2]' to be 'BOOLEAN', but was 'UNKNOWN'."),
        (
            "=paid",
            (
                "Expected result of the expression 'paid' to be 'BOOLEAN', but was 'NULL'. "
                "The evaluation reported the following warnings:\n"
                "[NO_VARIABLE_FOUND] No variable found with name 'paid'"
            ),
        ),
    ],
)
def test_a_condition_that_is_not_boolean_is_a_condition_error(
    engine: Scenario, condition: str, message: str
) -> None:
    engine.deploy(decision(condition, default=True)).start()

    assert (engine.incident.error_type, engine.incident.message) == (ErrorType.CONDITION_ERROR, message)


def test_a_stored_condition_that_a_later_version_refuses_is_a_condition_error(engine: Scenario) -> None:
    engine.deploy(decision('=status == "ok"')).start(status="ok")

    assert (engine.incident.error_type, engine.incident.message) == (
        ErrorType.CONDITION_ERROR,
        "Failed to evaluate the expression 'status == \"ok\"': expected '=' but found '==' at line 1, column 8",
    )


def test_resolving_before_anything_was_corrected_raises_a_new_incident(engine: Scenario) -> None:
    engine.deploy(decision("=paid")).start()
    first = engine.incident

    engine.resolve()

    assert engine.incident.key > first.key
    assert (engine.incident.message, engine.incident.error_type) == (first.message, first.error_type)
    assert list(engine.instance.incidents) == [engine.incident.key]


def test_resolving_after_the_variable_was_corrected_takes_the_flow(engine: Scenario) -> None:
    engine.deploy(corrected_later(decision("=total > 100"))).start(total=1)

    engine.complete("correct", total=1000).resolve()

    assert engine.path[-1] == "flow_1"
    assert engine.is_completed


def test_a_mapping_of_the_gateway_happens_once_however_often_it_is_tried(engine: Scenario) -> None:
    builder = process("order").node("exclusiveGateway", "decide", outputs={"tries": "=tries + 1"})
    builder.flow(condition="=paid").end().branch("start").service_task("correct", type="correct").end()
    engine.deploy(builder).start(paid=None, tries=0)

    engine.resolve().resolve().complete("correct", paid=True).resolve()

    assert engine.variables() == {"paid": True, "tries": 1}
    assert engine.is_completed
