"""Decision models of other tools: what is deployed as it is, and what is refused."""

from xml.sax.saxutils import escape

import httpx
import pytest

from server.bpmn.builder import process
from tests.end_to_end.servers import Server

DMN_15 = "https://www.omg.org/spec/DMN/20230324/MODEL/"
DMN_11_DRAFT = "http://www.omg.org/spec/DMN/20151101/dmn11.xsd"
OF_CAMUNDA, OF_OTHERS = "http://camunda.org/schema/1.0/dmn", "urn:offers"
AMOUNT = '<inputData id="amount" name="amount"/>'
NEEDS_AMOUNT = '<informationRequirement><requiredInput href="#amount"/></informationRequirement>'
KNOWLEDGE = '<businessKnowledgeModel id="unused" name="unused"/>'


def model(
    test: str = "> 3",
    *,
    ids: bool = True,
    namespace: str = DMN_15,
    owner: str = OF_CAMUNDA,
    beside: str = "",
    needs: str = "",
) -> bytes:
    """A table that says yes to what the test accepts; its owner's namespace chooses the dialect."""

    def named(name: str) -> str:
        return f'id="{name}" name="{name}"' if ids else f'name="{name}"'

    return (
        f'<definitions xmlns="{namespace}" namespace="{owner}" {named("offers")}>{beside}<decision {named("offer")}>'
        f"{needs}"
        "<decisionTable><input><inputExpression><text>amount</text></inputExpression></input><output/>"
        f"<rule><inputEntry><text>{escape(test)}</text></inputEntry><outputEntry><text>true</text></outputEntry></rule>"
        "</decisionTable></decision></definitions>"
    ).encode()


@pytest.mark.parametrize(
    ("content", "decision_id"),
    [
        pytest.param(model(ids=False), f"{OF_CAMUNDA}#offer", id="without ids"),
        pytest.param(
            model(ids=False, owner=OF_OTHERS, beside=AMOUNT, needs=NEEDS_AMOUNT),
            f"{OF_OTHERS}#offer",
            id="without ids where nothing refers, in the standard dialect",
        ),
        pytest.param(model(namespace=DMN_11_DRAFT), "offer", id="namespace of older modelers"),
        pytest.param(
            model(beside=KNOWLEDGE), "offer", id="knowledge model without logic that nothing invokes"
        ),
    ],
)
def test_a_model_of_another_tool_is_deployed_and_evaluated(
    content: bytes, decision_id: str, server: Server
) -> None:
    with server.session() as client:
        answer = client.post("/v2/deployments", files={"resources": ("a.dmn", content)}).raise_for_status()
        outputs = [output_of(client, decision_id, amount) for amount in (5, 3)]

    deployed = [each["decisionDefinition"] for each in answer.json()["deployments"]]
    assert decision_id in {each["decisionDefinitionId"] for each in deployed if each}
    assert outputs == ["true", "null"]


def output_of(client: httpx.Client, decision_id: str, amount: int) -> str:
    """The output as JSON text."""
    order = {"decisionDefinitionId": decision_id, "variables": {"amount": amount}}
    answer = client.post("/v2/decision-definitions/evaluation", json=order).raise_for_status().json()
    assert answer["failedDecisionDefinitionId"] in {None, ""}
    return str(answer["output"])


def choice(condition: str) -> bytes:
    """A process with a gateway that has the condition."""
    return (
        process("choice")
        .start()
        .exclusive_gateway("which")
        .flow(condition=condition)
        .end("yes")
        .branch("which")
        .flow(default=True)
        .end("no")
        .to_xml()
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param(
            "a.dmn", model("== 3"), "expected '=' but found '==' at line 1, column 1", id="equality in a rule"
        ),
        pytest.param(
            "a.dmn",
            model("<> 3"),
            "expected '!=' but found '<>' at line 1, column 1",
            id="inequality in a rule",
        ),
        pytest.param(
            "a.bpmn",
            choice('=status == "ok"'),
            "expected '=' but found '==' at line 1, column 8",
            id="equality in a condition",
        ),
        pytest.param(
            "a.bpmn",
            choice("=amount > 1\n and vip && paid"),
            "expected 'and' but found '&&' at line 2, column 10",
            id="conjunction in a condition",
        ),
        pytest.param(
            "a.bpmn",
            choice("=if vip than true else false"),
            "expected 'then' but found 'than' at line 1, column 8",
            id="misspelt keyword",
        ),
    ],
)
def test_text_of_another_language_is_refused_with_its_place_and_what_was_meant(
    name: str, content: bytes, message: str, server: Server
) -> None:
    with server.session() as client:
        answer = client.post("/v2/deployments", files={"resources": (name, content)})

    assert answer.status_code == 400
    assert message in answer.json()["detail"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        pytest.param("=1 == 1", "expected '=' but found '==' at line 1, column 3", id="operator"),
        pytest.param("=a &&\nb", "expected 'and' but found '&&' at line 1, column 3", id="conjunction"),
        pytest.param(
            "=1\n+ 2 AND 3", "found 'AND'; did you mean 'and'? at line 2, column 5", id="misspelt keyword"
        ),
    ],
)
def test_an_expression_that_is_no_feel_is_refused_with_its_place(
    expression: str, message: str, server: Server
) -> None:
    with server.session() as client:
        answer = client.post("/v2/expression/evaluation", json={"expression": expression})

    assert answer.status_code == 400
    assert message in answer.json()["detail"]


def test_a_misspelt_builtin_is_null_with_a_warning_that_names_the_builtin(server: Server) -> None:
    with server.session() as client:
        answer = client.post("/v2/expression/evaluation", json={"expression": '=uppercase("a")'}).json()

    assert answer["result"] is None
    assert [each["message"] for each in answer["warnings"]] == [
        "[NO_FUNCTION_FOUND] No function found with name 'uppercase' and 1 parameters. Did you mean 'upper case'?"
    ]
