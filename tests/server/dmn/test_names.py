import pytest

from server.dmn import DmnModelError
from server.dmn.names import MAX_NAMES
from server.feel import Value
from tests.server.dmn.models import (
    compiled,
    component,
    context,
    decision,
    input_data,
    item_definition,
    knowledge_model,
    literal,
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("first name", "first name", id="space"),
        pytest.param("pre-tax", "pre-tax", id="minus"),
        pytest.param("person's age", "person's age", id="apostrophe"),
        pytest.param("yes/no", "yes/no", id="slash"),
        pytest.param("A and B", "A and B", id="keyword"),
        pytest.param("größe der stadt", "größe der stadt", id="letters"),
        pytest.param("two  words", "two words", id="white space"),
    ],
)
def test_names_may_hold_what_is_no_word(name: str, text: str) -> None:
    model = compiled(input_data(name), decision("d", literal(f"{text} + 1"), inputs=[name]))

    assert model.evaluate("d", {" ".join(name.split()): 1}).value == 2


def test_a_name_is_one_only_where_it_is_seen() -> None:
    model = compiled(
        input_data("a"),
        input_data("b"),
        decision("a-b", literal("a-b"), inputs=["a", "b"]),
        decision("d", literal("a-b"), requires=["a-b"]),
    )

    assert model.evaluate("d", {"a": 5, "b": 3}).value == 2


@pytest.mark.parametrize(
    ("logic", "expected"),
    [
        pytest.param(literal("the person.last name"), "Lovelace", id="component"),
        pytest.param(
            context(("the name", literal("the person.last name")), ("", literal("the name"))),
            "Lovelace",
            id="entry",
        ),
    ],
)
def test_names_behind_a_dot_may_hold_spaces(logic: str, expected: Value) -> None:
    model = compiled(
        item_definition("person", component("last name", "string")),
        input_data("the person", "person"),
        decision("d", logic, inputs=["the person"]),
    )

    assert expected == model.evaluate("d", {"the person": {"last name": "Lovelace"}}).value


def test_a_parameter_may_look_like_a_path() -> None:
    model = compiled(
        knowledge_model("describe", ["person.name"], literal('person.name + "!"')),
        decision("d", literal('describe("Ada")'), knowledge=["describe"]),
    )

    assert model.evaluate("d", {}).value == "Ada!"


TOO_MANY = [f"no {number}" for number in range(MAX_NAMES + 1)]


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(
            item_definition("t", "".join(component(name, "string") for name in TOO_MANY)), id="components"
        ),
        pytest.param(knowledge_model("f", TOO_MANY, literal("1")), id="parameters"),
    ],
)
def test_a_model_of_too_many_such_names_is_refused(part: str) -> None:
    with pytest.raises(DmnModelError, match=f"at most {MAX_NAMES} names"):
        compiled(part)
