import pytest

from server.bpmn.builder import ProcessBuilder, process
from server.engine.incidents import ErrorType
from server.engine.lifecycle import ElementState
from tests.server.engine.scenario import Scenario

FAILING = '=assert(amount, amount > 0, "no amount")'


def charge(**attributes: object) -> ProcessBuilder:
    """A task `charge`, with a task `correct` at its side."""
    builder = process("order").service_task("charge", type="charge", **attributes).end()  # type: ignore[arg-type]
    return builder.branch("start").service_task("correct", type="correct").end()


def locals_of(engine: Scenario, mappings: dict[str, str | None], **variables: object) -> object:
    engine.deploy(charge(inputs=mappings)).start(**variables)
    return engine.variables(engine.element("charge").key)


def globals_after(engine: Scenario, mappings: dict[str, str], **variables: object) -> object:
    engine.deploy(charge(outputs=mappings)).start(**variables).complete("charge")
    return {name: value for name, value in engine.variables().items() if name not in variables}


# Inputs


@pytest.mark.parametrize(
    ("mappings", "expected"),
    [
        pytest.param({"x": "=total"}, {"x": 5}, id="expression"),
        pytest.param({"x": "text"}, {"x": "text"}, id="static text"),
        pytest.param({"x": None}, {"x": None}, id="no source is null"),
        pytest.param({"x": "=unknown"}, {"x": None}, id="a missing variable is null"),
        pytest.param(
            {"x": "=total", "y": "=x + 1"}, {"x": 5, "y": 6}, id="later sources see earlier targets"
        ),
        pytest.param(
            {"y": "=x", "x": "=total"}, {"y": None, "x": 5}, id="earlier sources see no later targets"
        ),
        pytest.param({"a.b": "=total"}, {"a": {"b": 5}}, id="a dotted target makes an object"),
        pytest.param(
            {"a.b": "=1", "a.c": "=2", "a.d.e": "=3"},
            {"a": {"b": 1, "c": 2, "d": {"e": 3}}},
            id="dotted targets add to each other",
        ),
        pytest.param(
            {"a": "=1", "a.b": "=2"}, {"a": {"b": 2}}, id="a dotted target replaces what is no object"
        ),
        pytest.param({"o.b": "=1"}, {"o": {"b": 1}}, id="an object around is no part of the local one"),
        pytest.param(
            {"a.b": "=1", "x": "=a.b"}, {"a": {"b": 1}, "x": 1}, id="later sources see into objects"
        ),
        pytest.param({"total": "=total + 1"}, {"total": 6}, id="a target may hide its source"),
        pytest.param({"o": "=o", "o.b": "=1"}, {"o": {"a": 0, "b": 1}}, id="a copied object is added to"),
        pytest.param({"x": "=2 ** 100"}, {"x": 2**100}, id="large integers keep their digits"),
        pytest.param({"x": "=0.1 + 0.2"}, {"x": 0.3}, id="decimals are exact"),
        pytest.param({"x": "=[1..3]"}, {"x": None}, id="what JSON cannot say is null"),
    ],
)
def test_inputs_make_local_variables(
    engine: Scenario, mappings: dict[str, str | None], expected: object
) -> None:
    assert locals_of(engine, mappings, total=5, o={"a": 0}) == expected
    assert engine.variables() == {"total": 5, "o": {"a": 0}}


# Outputs


@pytest.mark.parametrize(
    ("mappings", "expected"),
    [
        pytest.param({"x": "=total"}, {"x": 5}, id="expression"),
        pytest.param({"x": "=1", "y": "=x + 1"}, {"x": 1, "y": 2}, id="later sources see earlier targets"),
        pytest.param({"a.b": "=1"}, {"a": {"b": 1}}, id="a dotted target makes an object"),
    ],
)
def test_outputs_make_variables_around_the_element(
    engine: Scenario, mappings: dict[str, str], expected: object
) -> None:
    assert globals_after(engine, mappings, total=5) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param("o.b", {"a": 0, "b": 9, "c": {"d": 1}}, id="a new leaf"),
        pytest.param("o.a", {"a": 9, "c": {"d": 1}}, id="a changed leaf"),
        pytest.param("o.c.e", {"a": 0, "c": {"d": 1, "e": 9}}, id="a leaf further down"),
        pytest.param("o.a.x", {"a": {"x": 9}, "c": {"d": 1}}, id="a leaf below what is no object"),
        pytest.param("o", 9, id="the whole"),
    ],
)
def test_a_dotted_output_changes_its_leaf_and_keeps_the_siblings(
    engine: Scenario, target: str, expected: object
) -> None:
    engine.deploy(charge(outputs={target: "=9"})).start(o={"a": 0, "c": {"d": 1}})

    engine.complete("charge")

    assert engine.variables() == {"o": expected}


def test_outputs_see_the_local_variables(engine: Scenario) -> None:
    engine.deploy(charge(inputs={"amount": "=total"}, outputs={"paid": "=amount + fee"})).start(total=5)

    engine.complete("charge", fee=1)

    assert engine.variables() == {"total": 5, "paid": 6}


def test_an_output_goes_past_the_local_variable_of_its_name(engine: Scenario) -> None:
    engine.deploy(charge(inputs={"total": "=1"}, outputs={"total": "=total + 1"})).start(total=5)

    engine.complete("charge")

    assert engine.variables() == {"total": 2}


# Failing


def test_a_failing_input_raises_an_incident_and_creates_nothing(engine: Scenario) -> None:
    engine.deploy(charge(inputs={"x": "=1", "y": FAILING})).start(amount=0)

    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    assert engine.incident.message.startswith(f"Failed to evaluate the expression '{FAILING[1:]}': ")
    assert "no amount" in engine.incident.message
    assert engine.element("charge").state is ElementState.ACTIVATING
    assert engine.variables(engine.element("charge").key) == {}


def test_a_failing_input_is_tried_again_when_resolved(engine: Scenario) -> None:
    engine.deploy(charge(inputs={"y": FAILING})).start(amount=0)

    engine.complete("correct", amount=3).resolve()

    assert engine.variables(engine.element("charge").key) == {"y": 3}
    assert engine.offered == ["charge"]


def test_a_failing_output_raises_an_incident_and_changes_nothing(engine: Scenario) -> None:
    engine.deploy(charge(outputs={"x": "=1", "y": FAILING})).start(amount=0)

    engine.complete("charge")

    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    assert engine.incident.job_key is None
    assert engine.element("charge").state is ElementState.COMPLETING
    assert engine.variables() == {"amount": 0}


def test_a_failing_output_is_tried_again_when_resolved(engine: Scenario) -> None:
    engine.deploy(charge(outputs={"y": "=result + " + FAILING[1:]})).start(amount=0)

    engine.complete("charge", result=1).complete("correct", amount=3).resolve()

    assert engine.variables() == {"amount": 3, "y": 4}
    assert engine.is_completed


def test_inputs_are_not_applied_to_themselves_when_the_element_is_tried_again(engine: Scenario) -> None:
    builder = process("order").service_task("charge", type="=kind", inputs={"n": "=n + 1", "m": "=n"}).end()
    engine.deploy(builder.branch("start").service_task("correct", type="correct").end()).start(n=0)

    engine.resolve().resolve().complete("correct", kind="charge").resolve()

    assert engine.variables(engine.element("charge").key) == {"n": 1, "m": 1}


def test_inputs_follow_what_was_corrected_when_the_element_is_tried_again(engine: Scenario) -> None:
    builder = process("order").service_task("charge", type="=type", inputs={"type": "=kind"}).end()
    engine.deploy(builder.branch("start").service_task("correct", type="correct").end()).start(kind=1)

    engine.complete("correct", kind="sea").resolve()

    assert engine.job("sea").element_id == "charge"
