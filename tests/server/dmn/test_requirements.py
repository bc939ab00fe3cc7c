import pytest

from server.dmn import DmnModelError, compile_definitions
from server.feel import DialectName, Value
from tests.server.dmn.models import (
    compiled,
    decision,
    definitions,
    function,
    input_data,
    invocation,
    knowledge_model,
    literal,
    service,
    table,
)


def test_required_decisions_are_evaluated_first_and_once() -> None:
    model = compiled(
        decision("total", literal("net price + tax + net price"), requires=["net price", "tax"]),
        decision("tax", literal("net price / 10"), requires=["net price"]),
        decision("net price", literal("amount * 2"), inputs=["amount"]),
        input_data("amount"),
    )

    evaluation = model.evaluate("total", {"amount": 50})

    assert evaluation.value == 210
    assert [each.id for each in evaluation.evaluated] == ["netprice", "tax", "total"]


def test_only_what_is_required_is_seen_in_the_standard_and_every_variable_in_camunda() -> None:
    parts = (input_data("a"), decision("d", literal("a")))

    assert compiled(*parts).evaluate("d", {"a": 1}).value is None
    assert compiled(*parts, dialect="camunda").evaluate("d", {"a": 1}).value == 1


def test_in_camunda_a_decision_without_variable_is_seen_by_its_id() -> None:
    xml = definitions(
        f'<decision id="first_one" name="First one">{literal("1")}</decision>',
        decision("second", literal("first_one + 1"), requires=["first_one"]),
    )

    assert compile_definitions(xml).evaluate("second", {}).value == 2


def test_a_knowledge_model_is_a_function_of_its_parameters() -> None:
    model = compiled(
        knowledge_model("gross price", ["net:number", "rate"], literal("net * (1 + rate)")),
        decision("call", literal("gross price(100, 0.2)"), knowledge=["gross price"]),
        decision("named", literal("gross price(rate: 0.2, net: 100)"), knowledge=["gross price"]),
        decision("boxed", invocation("gross price", rate="0.2", net="100"), knowledge=["gross price"]),
        decision("wrong", literal('gross price("100", 0.2)'), knowledge=["gross price"]),
    )

    values = {name: model.evaluate(name, {}).value for name in ("call", "named", "boxed", "wrong")}

    assert values == {"call": 120, "named": 120, "boxed": 120, "wrong": None}


def test_a_knowledge_model_sees_the_knowledge_that_it_requires() -> None:
    model = compiled(
        knowledge_model("twice", ["x"], literal("x * 2")),
        knowledge_model("four times", ["x"], literal("twice(twice(x))"), knowledge=["twice"]),
        decision("d", literal("four times(3)"), knowledge=["four times"]),
    )

    assert model.evaluate("d", {}).value == 12


@pytest.mark.parametrize(
    "model",
    [
        pytest.param('<businessKnowledgeModel id="f" name="f"/>', id="without logic"),
        pytest.param(knowledge_model("f", [], ""), id="without a body"),
        pytest.param(
            knowledge_model("f", [], literal("1")).replace("Logic>", 'Logic kind="Java">', 1), id="in Java"
        ),
    ],
)
def test_a_knowledge_model_that_cannot_be_evaluated_is_null(model: str) -> None:
    compiled_model = compiled(model, decision("d", literal("f()"), knowledge=["f"]))

    assert compiled_model.evaluate("d", {}).value is None


WITHOUT_LOGIC = '<businessKnowledgeModel id="f" name="f"/>'


@pytest.mark.parametrize("dialect", ["camunda", "standard"])
def test_a_knowledge_model_without_logic_is_no_problem_until_it_is_invoked(dialect: DialectName) -> None:
    model = compiled(
        WITHOUT_LOGIC,
        decision("d", literal("1 + 1"), knowledge=["f"]),
        decision("called", literal("f()"), knowledge=["f"]),
        decision("boxed", invocation("f"), knowledge=["f"]),
        dialect=dialect,
    )

    evaluations = {name: model.evaluate(name, {}) for name in ("d", "called", "boxed")}

    assert model.problems == ()
    assert {name: each.value for name, each in evaluations.items()} == {"d": 2, "called": None, "boxed": None}
    notes = {name: [failure.message for failure in each.failures] for name, each in evaluations.items()}
    told = ["expected logic of f to invoke, found none"]
    assert notes == {"d": [], "called": told, "boxed": told}


def test_a_decision_may_give_a_function() -> None:
    model = compiled(
        decision("adder", function(["a"], literal("a + base")), inputs=["base"]),
        input_data("base"),
        decision("d", literal("adder(1)"), requires=["adder"]),
    )

    assert model.evaluate("d", {"base": 10}).value == 11


SERVICE = (
    service("greeting", ["sentence"], input_decisions=["name"], input_data=["salutation"]),
    decision("sentence", literal('salutation + ", " + name'), requires=["name"], inputs=["salutation"]),
    decision("name", literal('"nobody"'), type_ref="string"),
    input_data("salutation", "string"),
)


def test_a_service_is_evaluated_with_its_inputs_in_place_of_the_decisions() -> None:
    evaluation = compiled(*SERVICE).evaluate("greeting", {"name": "Ada", "salutation": "Hello"})

    assert evaluation.value == "Hello, Ada"
    assert [each.id for each in evaluation.evaluated] == ["sentence"]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param('greeting("Hello", "Ada")', "Hello, Ada", id="input data come before input decisions"),
        pytest.param('greeting(name: "Ada", salutation: "Hi")', "Hi, Ada", id="by name"),
        pytest.param('greeting(["Hello"], "Ada")', "Hello, Ada", id="from a list of one"),
        pytest.param('greeting(1, "Ada")', None, id="another type"),
        pytest.param('greeting("Hello")', None, id="too few"),
        pytest.param('greeting(nobody: "Ada")', None, id="unknown name"),
    ],
)
def test_a_service_is_a_function(call: str, expected: Value) -> None:
    model = compiled(*SERVICE, decision("d", literal(call), knowledge=["greeting"]))

    assert expected == model.evaluate("d", {}).value


def test_several_outputs_of_a_service_are_a_context() -> None:
    model = compiled(service("s", ["a", "b"]), decision("a", literal("1")), decision("b", literal("2")))

    assert model.evaluate("s", {}).value == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((decision("a", requires=["b"]), decision("b", requires=["a"])), id="decisions"),
        pytest.param((decision("a", requires=["a"]),), id="a decision"),
        pytest.param(
            (
                knowledge_model("f", [], literal("g()"), knowledge=["g"]),
                knowledge_model("g", [], literal("f()"), knowledge=["f"]),
            ),
            id="knowledge models",
        ),
        pytest.param((service("s", ["a"]), decision("a", literal("s()"), knowledge=["s"])), id="service"),
    ],
)
def test_what_requires_itself_is_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(DmnModelError, match="requires itself"):
        compiled(*parts)


PROBLEMS = [
    pytest.param(decision("d"), "or remove the decision", id="no logic"),
    pytest.param(decision("d", literal("1 +")), "expected FEEL, found '1 +'", id="no FEEL"),
    pytest.param(decision("d", literal("")), "expected an expression, found none", id="empty"),
    pytest.param(decision("d", literal("1"), requires=["gone"]), "behind #gone", id="dangling reference"),
    pytest.param(
        decision("d", '<literalExpression expressionLanguage="groovy"><text>1</text></literalExpression>'),
        "found an expression in groovy",
        id="another language",
    ),
    pytest.param(decision("d", table(["x"], ["y"], ("< ", "1"))), "found '<'", id="input entry"),
    pytest.param(
        decision("d", table(["1"], ["y", ""], ("-", "1", "2"))),
        "expected a name of every output",
        id="output name",
    ),
    pytest.param(
        decision("d", table(["1"], ["y", "z"], hit_policy="COLLECT", aggregation="SUM")),
        "expected one output to aggregate",
        id="aggregation of several outputs",
    ),
    pytest.param(
        knowledge_model("f", [], literal("1")) + decision("d", invocation("f")),
        "not required",
        id="invocation",
    ),
]


@pytest.mark.parametrize(("part", "message"), PROBLEMS)
def test_camunda_refuses_a_model_with_a_problem(part: str, message: str) -> None:
    with pytest.raises(DmnModelError, match=message.replace("+", r"\+")) as refusal:
        compiled(part, dialect="camunda")

    assert refusal.value.line == 1


@pytest.mark.parametrize(("part", "message"), PROBLEMS)
def test_the_standard_tells_problems_and_evaluates_the_rest(part: str, message: str) -> None:
    model = compiled(part, decision("other", literal("1")))

    assert any(message in problem.message for problem in model.problems)
    assert model.evaluate("other", {}).value == 1
    assert model.evaluate("d", {}).failure is None


def test_the_message_of_a_refusal_is_short() -> None:
    with pytest.raises(DmnModelError) as refusal:
        compiled(decision("d", literal("1"), requires=["x" * 10_000]), dialect="camunda")

    assert len(str(refusal.value)) < 600


def test_a_long_chain_of_decisions_is_evaluated() -> None:
    length = 1_500
    chain = [decision("d0", literal("0"))]
    chain += [decision(f"d{n}", literal(f"d{n - 1} + 1"), requires=[f"d{n - 1}"]) for n in range(1, length)]

    assert compiled(*chain).evaluate(f"d{length - 1}", {}).value == length - 1


def test_a_decision_that_fails_names_itself_and_keeps_what_was_evaluated_before() -> None:
    model = compiled(
        decision("first", literal("1")),
        decision("second", literal('assert(first, false, "no")'), requires=["first"]),
        decision("third", literal("second"), requires=["second"]),
        dialect="camunda",
    )

    evaluation = model.evaluate("third", {})

    assert evaluation.failure is not None
    assert evaluation.failure.decision_id == "second"
    assert [(each.id, each.value) for each in evaluation.evaluated] == [("first", 1), ("second", None)]


def test_an_unknown_decision_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        compiled().evaluate("nothing", {})
