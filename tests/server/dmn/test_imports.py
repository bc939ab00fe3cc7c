import pytest

from server.dmn import DmnModelError, compile_definitions
from server.feel import Value
from tests.server.dmn.models import (
    component,
    decision,
    definitions,
    input_data,
    item_definition,
    knowledge_model,
    literal,
)

TAXES = definitions(
    item_definition("rates", component("full", "number")),
    input_data("country code", "string"),
    decision("full rate", literal('if country code = "DE" then 0.19 else 0.2'), inputs=["country code"]),
    knowledge_model("gross of", ["net"], literal("net * 2")),
    namespace="urn:taxes",
)


def importing(*parts: str, namespace: str = "urn:taxes", name: str = "the taxes") -> bytes:
    return definitions(f'<import name="{name}" namespace="{namespace}" importType="dmn"/>', *parts)


def test_elements_of_an_imported_model_are_seen_under_its_name() -> None:
    main = importing(
        decision(
            "price",
            literal("the taxes.gross of(100) * (1 + the taxes.full rate)"),
            requires=["urn:taxes#fullrate"],
            knowledge=["urn:taxes#grossof"],
        )
    )

    model = compile_definitions(main, imports=[TAXES], dialect="standard")

    assert model.evaluate("price", {"country code": "DE"}).value == 238
    assert model.evaluate("price", {"the taxes": {"country code": "AT"}}).value == 240


def test_types_of_an_imported_model_are_known_under_its_name() -> None:
    main = importing(
        input_data("r", "the taxes.rates"),
        decision("d", literal("r.full"), inputs=["r"]),
        input_data("s", "the taxes.gone"),
    )

    model = compile_definitions(main, imports=[TAXES], dialect="standard")

    assert model.evaluate("d", {"r": {"full": 1}}).value == 1
    assert model.evaluate("d", {"r": {"half": 1}}).value is None
    assert [problem.message for problem in model.problems] == ["expected a type, found the taxes.gone"]


@pytest.mark.parametrize(
    ("type_ref", "value", "expected"),
    [
        ("t:rates", {"full": 1}, {"full": 1}),
        ("t:rates", {"half": 1}, None),
        ("feel:number", 1, 1),
        ("feel:number", "1", None),
    ],
)
def test_types_may_be_qualified_names(type_ref: str, value: Value, expected: Value) -> None:
    main = definitions(
        '<import name="taxes" namespace="urn:taxes"/>',
        input_data("x", type_ref),
        decision("d", literal("x"), inputs=["x"]),
        more='xmlns:t="urn:taxes" xmlns:feel="http://www.omg.org/spec/FEEL/20140401"',
    )

    assert (
        expected
        == compile_definitions(main, imports=[TAXES], dialect="standard").evaluate("d", {"x": value}).value
    )


def test_an_import_that_is_not_given_is_a_problem() -> None:
    main = importing(decision("d", literal("1")), namespace="urn:nowhere")

    assert "urn:nowhere" in compile_definitions(main, dialect="standard").problems[0].message
    with pytest.raises(DmnModelError, match="urn:nowhere"):
        compile_definitions(main)


def test_models_that_import_each_other_are_refused() -> None:
    one = definitions('<import name="two" namespace="urn:two"/>', namespace="urn:one")
    two = definitions('<import name="one" namespace="urn:one"/>', namespace="urn:two")

    with pytest.raises(DmnModelError, match="models import each other"):
        compile_definitions(one, imports=[two])


def test_a_reference_may_name_the_models_own_namespace() -> None:
    main = definitions(decision("a", literal("1")), decision("b", literal("a"), requires=["urn:model#a"]))

    assert compile_definitions(main).evaluate("b", {}).value == 1
