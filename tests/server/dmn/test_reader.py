import pytest

from server.dmn import DmnReadError, compile_definitions
from server.dmn.document import NAMESPACES
from server.dmn.reader import read
from tests.server.dmn.models import context, decision, definitions, input_data, literal, table


@pytest.mark.parametrize("namespace", NAMESPACES, ids=NAMESPACES.values())
def test_every_version_is_read_and_evaluated(namespace: str) -> None:
    xml = definitions(
        input_data("age"), decision("adult", literal("age >= 18"), inputs=["age"]), dmn=namespace
    )

    compiled = compile_definitions(xml, dialect="standard")

    assert read(xml).version == NAMESPACES[namespace]
    assert compiled.evaluate("adult", {"age": 20}).value is True


@pytest.mark.parametrize(
    ("namespace", "language", "version"),
    [
        pytest.param(
            "http://www.omg.org/spec/DMN/20151101/dmn11.xsd",
            "http://www.omg.org/spec/FEEL/20140401",
            "1.1",
            id="older modelers",
        ),
        pytest.param(
            "https://www.omg.org/spec/DMN/20240513/MODEL/",
            "https://www.omg.org/spec/DMN/20240513/FEEL/",
            "1.6",
            id="DMN 1.6",
        ),
    ],
)
def test_a_namespace_is_read_with_its_expression_language(
    namespace: str, language: str, version: str
) -> None:
    xml = definitions(
        decision("sum", literal("1 + 1")), dmn=namespace, more=f'expressionLanguage="{language}"'
    )

    assert read(xml).version == version
    assert compile_definitions(xml).evaluate("sum", {}).value == 2


def test_prefixes_of_any_name_may_be_used() -> None:
    namespace = next(iter(NAMESPACES))
    xml = f"""
        <x:definitions xmlns:x="{namespace}" namespace="urn:m"><x:decision id="d" name="d">
        <x:literalExpression><x:text>1 + 1</x:text></x:literalExpression></x:decision></x:definitions>
    """.strip().encode()

    assert compile_definitions(xml).evaluate("d", {}).value == 2


def test_what_has_no_id_is_known_by_one_of_its_namespace_and_name() -> None:
    parts = f'<decision name="A b">{literal("1")}</decision><decision id=" " name="c"/><decision id="d" name="d"/>'
    xml = definitions(parts, namespace="urn:m").replace(b' id="model"', b"")

    model = read(xml)

    assert model.definition_id == "urn:m#model"
    assert [element.definition_id for element in model.elements] == ["urn:m#A b", "urn:m#c", "d"]
    assert model.elements[0].variable_names == ("A b",)
    evaluation = compile_definitions(xml, dialect="standard").evaluate("urn:m#A b", {})
    assert (evaluation.id, evaluation.value) == ("urn:m#A b", 1)


def test_white_space_in_a_name_is_one_space() -> None:
    model = read(definitions(input_data("first \n  name")))

    assert model.elements[0].name == "first name"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        pytest.param(decision("d", "<decisionTable/>"), "expected an output", id="table without output"),
        pytest.param(
            decision("d", table(["x"], ["y"], ("1",))),
            "1 input and 1 output entries, found 1 and 0",
            id="short rule",
        ),
        pytest.param(
            decision("d", table(["x"], ["y"], hit_policy="GUESS")), "hitPolicy to be one of", id="hit policy"
        ),
        pytest.param(
            decision("d", table(["x"], ["y"], aggregation="AVERAGE")),
            "aggregation to be one of",
            id="aggregation",
        ),
        pytest.param(
            decision("d", '<relation><column name="a"/><row/></relation>'), "expected 1 cells", id="short row"
        ),
        pytest.param(
            decision("d", context(("a", ""))), "expected an expression in contextEntry", id="empty entry"
        ),
        pytest.param(decision("d", "<conditional/>"), "expected if in conditional", id="conditional"),
        pytest.param(decision("d", "<for><in/></for>"), "expected an iteratorVariable", id="loop"),
        pytest.param(decision("d", "<invocation/>"), "expected an expression in invocation", id="invocation"),
        pytest.param(
            decision("d", "<informationRequirement><requiredInput/></informationRequirement>"),
            "expected an href",
            id="reference",
        ),
        pytest.param(decision("d") + decision("d"), "expected every id once, found d again", id="same id"),
        pytest.param(
            '<decision name="A b"/><inputData name="A  b"/>',
            "expected every name once among elements without an id, found A b again",
            id="same name without ids",
        ),
    ],
)
def test_what_the_schema_asks_for_must_be_there(part: str, message: str) -> None:
    with pytest.raises(DmnReadError, match=message) as refusal:
        read(definitions(part))

    assert refusal.value.line == 1
