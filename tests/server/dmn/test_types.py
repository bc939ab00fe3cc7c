import pytest

from server.dmn import DmnModelError
from server.feel import Date, DateTime, Value
from tests.server.dmn.models import (
    compiled,
    component,
    context,
    decision,
    input_data,
    item_definition,
    knowledge_model,
    literal,
    table,
)

PERSON = item_definition("person", component("name", "string") + component("age", "number"))
TREE = item_definition(
    "tree",
    component("size", "number")
    + '<itemComponent name="trees" isCollection="true"><typeRef>tree</typeRef></itemComponent>',
)
TYPES = (
    PERSON,
    TREE,
    item_definition("persons", type_ref="person", is_collection=True),
    item_definition("byte", type_ref="number", allowed="[0..255]"),
    item_definition("bytes", type_ref="byte", is_collection=True),
    item_definition("size", type_ref="string", allowed='"small", "large"'),
    item_definition("alias", type_ref="size"),
    item_definition(
        "handler",
        '<functionItem outputTypeRef="number"><parameters name="x" typeRef="number"/></functionItem>',
    ),
)
ADA = {"name": "Ada", "age": 36}


@pytest.mark.parametrize(
    ("type_ref", "value", "expected"),
    [
        pytest.param("number", 1, 1, id="number"),
        pytest.param("number", None, None, id="null"),
        pytest.param("number", "1", None, id="string for number"),
        pytest.param("boolean", 1, None, id="number for boolean"),
        pytest.param("number", [1], 1, id="list of one for its item"),
        pytest.param("number", ["1"], None, id="list of another one"),
        pytest.param("number", [1, 2], None, id="list of two"),
        pytest.param("list<number>", 1, [1], id="item for a list"),
        pytest.param("list<number>", [1, "2"], None, id="list with another type inside"),
        pytest.param("Any", {"a": [1]}, {"a": [1]}, id="any"),
        pytest.param("dateTime", Date(2024, 1, 2), "2024-01-02T00:00:00Z", id="date for date and time"),
        pytest.param("person", ADA, ADA, id="context"),
        pytest.param("person", {**ADA, "more": 1}, {**ADA, "more": 1}, id="more entries"),
        pytest.param("person", {"name": "Ada"}, None, id="missing entry"),
        pytest.param("person", {"name": "Ada", "age": None}, {"name": "Ada", "age": None}, id="null entry"),
        pytest.param("person", {"name": 1, "age": 1}, None, id="entry of another type"),
        pytest.param("person", [ADA], ADA, id="list of one context"),
        pytest.param("persons", [ADA, ADA], [ADA, ADA], id="collection"),
        pytest.param("persons", ADA, [ADA], id="item for a collection"),
        pytest.param("persons", [ADA, 1], None, id="collection with another type inside"),
        pytest.param("byte", 255, 255, id="allowed"),
        pytest.param("byte", 256, None, id="not allowed"),
        pytest.param("bytes", [0, 255], [0, 255], id="all allowed"),
        pytest.param("bytes", [0, 256], None, id="one not allowed"),
        pytest.param("alias", "large", "large", id="alias"),
        pytest.param("alias", "huge", None, id="alias, not allowed"),
        pytest.param(
            "tree",
            {"size": 1, "trees": [{"size": 2, "trees": []}]},
            {"size": 1, "trees": [{"size": 2, "trees": []}]},
            id="of itself",
        ),
        pytest.param(
            "tree", {"size": 1, "trees": [{"size": "2", "trees": []}]}, None, id="wrong inside itself"
        ),
        pytest.param("handler", 1, None, id="no function"),
    ],
)
def test_inputs_are_converted_to_their_types(type_ref: str, value: Value, expected: Value) -> None:
    model = compiled(*TYPES, input_data("x", type_ref), decision("d", literal("x"), inputs=["x"]))

    evaluation = model.evaluate("d", {"x": value})

    result = (
        f"{evaluation.value.date.year}-01-02T00:00:00Z"
        if isinstance(evaluation.value, DateTime)
        else evaluation.value
    )
    assert expected == result
    assert bool(evaluation.failures) is (expected is None and value is not None)


@pytest.mark.parametrize(
    "logic",
    [
        pytest.param(literal('"one"', "number"), id="literal expression"),
        pytest.param(context(("a", literal('"one"', "number")), ("", literal("a"))), id="context entry"),
        pytest.param(
            table(["1"], ["y"], ("-", '"one"')).replace(
                "<decisionTable ", '<decisionTable typeRef="number" '
            ),
            id="table",
        ),
        pytest.param(
            table(["1"], ["y"], ("-", '"one"')).replace("<output ", '<output typeRef="number" '), id="output"
        ),
    ],
)
def test_a_value_of_another_type_is_null_wherever_a_type_is_written(logic: str) -> None:
    evaluation = compiled(decision("d", logic)).evaluate("d", {})

    assert evaluation.value is None
    assert "expected 'number' but found '\"one\"'" in evaluation.failures[0].message


def test_camunda_looks_at_the_result_only_and_fails() -> None:
    parts = (input_data("x", "number"), decision("d", literal("x"), inputs=["x"], type_ref="number"))

    evaluation = compiled(*parts, dialect="camunda").evaluate("d", {"x": "one"})

    assert evaluation.failure is not None
    assert evaluation.failure.message == "expected 'number' but found '\"one\"'"


def test_camunda_does_not_ask_for_types_that_it_does_not_know() -> None:
    model = compiled(decision("d", literal("1"), type_ref="integer"), dialect="camunda")

    assert model.evaluate("d", {}).value == 1


@pytest.mark.parametrize("type_ref", ["handler", "number"])
@pytest.mark.parametrize(("text", "expected"), [("x + 1", 2), ("string(x)", None)])
def test_a_knowledge_model_declares_its_result_or_itself_as_a_function(
    type_ref: str, text: str, expected: Value
) -> None:
    model = compiled(
        *TYPES,
        knowledge_model("f", ["x"], literal(text), type_ref=type_ref),
        decision("d", literal("f(1)"), knowledge=["f"]),
    )

    assert expected == model.evaluate("d", {}).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("300 instance of byte", True, id="allowed values do not count"),
        pytest.param('"300" instance of byte', False, id="another type"),
        pytest.param("[1, 300] instance of bytes", True, id="collection"),
        pytest.param("1 instance of bytes", False, id="item of a collection"),
        pytest.param('{name: "Ada", age: 1} instance of person', True, id="context"),
        pytest.param(
            "[{size: 1, trees: [{size: 2, trees: []}]}] instance of list<tree>", True, id="inside a list"
        ),
        pytest.param(
            "{size: 1, trees: [{size: true, trees: []}]} instance of tree", False, id="inside itself"
        ),
        pytest.param("(function(x) x) instance of handler", True, id="function"),
        pytest.param("null instance of person", False, id="null"),
    ],
)
def test_instance_of_knows_item_definitions(text: str, *, expected: bool) -> None:
    assert compiled(*TYPES, decision("d", literal(text))).evaluate("d", {}).value is expected


def test_an_unknown_type_is_a_problem() -> None:
    assert (
        "expected a type, found nothing"
        in compiled(decision("d", literal("1"), type_ref="nothing")).problems[0].message
    )


def test_an_alias_of_itself_is_a_problem() -> None:
    model = compiled(
        item_definition("a", type_ref="b"), item_definition("b", type_ref="a"), input_data("x", "a")
    )

    assert {problem.message for problem in model.problems} == {
        "type a is an alias of itself",
        "type b is an alias of itself",
    }
    with pytest.raises(DmnModelError):
        compiled(item_definition("a", type_ref="a"), dialect="camunda")
