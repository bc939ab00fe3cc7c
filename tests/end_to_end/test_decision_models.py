"""Decision models of other tools: what is deployed as it is, and what is refused."""

from xml.sax.saxutils import escape

import pytest

from server.bpmn.builder import process
from tests.end_to_end.servers import Server

DMN_15 = "https://www.omg.org/spec/DMN/20230324/MODEL/"
DMN_11_DRAFT = "http://www.omg.org/spec/DMN/20151101/dmn11.xsd"
KNOWLEDGE = '<businessKnowledgeModel id="unused" name="unused"/>'


def model(test: str = "> 3", *, ids: bool = True, namespace: str = DMN_15, beside: str = "") -> bytes:
    """A table that says yes to what the test accepts."""

    def named(name: str) -> str:
        return f'id="{name}" name="{name}"' if ids else f'name="{name}"'

    return (
        f'<definitions xmlns="{namespace}" namespace="urn:offers" {named("offers")}>{beside}<decision {named("offer")}>'
        "<decisionTable><input><inputExpression><text>amount</text></inputExpression></input><output/>"
        f"<rule><inputEntry><text>{escape(test)}</text></inputEntry><outputEntry><text>true</text></outputEntry></rule>"
        "</decisionTable></decision></definitions>"
    ).encode()


@pytest.mark.parametrize(
    ("content", "decision_id"),
    [
        pytest.param(model(ids=False), "urn:offers#offer", id="without ids"),
        pytest.param(model(namespace=DMN_11_DRAFT), "offer", id="namespace of older modelers"),
        pytest.param(
            model(beside=KNOWLEDGE), "offer", id="knowledge model without logic that nothing invokes"
        ),
    ],
)
def test_a_model_of_another_tool_is_deployed(content: bytes, decision_id: str, server: Server) -> None:
    with server.session() as client:
        answer = client.post("/v2/deployments", files={"resources": ("a.dmn", content)}).raise_for_status()

    deployed = [each["decisionDefinition"] for each in answer.json()["deployments"]]
    assert decision_id in {each["decisionDefinitionId"] for each in deployed if each}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("a.dmn", model("== 3"), id="rule"),
        pytest.param(
            "a.bpmn",
            process("choice")
            .start()
            .exclusive_gateway("which")
            .flow(condition='=status == "ok"')
            .end("yes")
            .branch("which")
            .flow(default=True)
            .end("no")
            .to_xml(),
            id="condition",
        ),
    ],
)
def test_an_operator_of_another_language_is_refused_with_what_was_meant(
    name: str, content: bytes, server: Server
) -> None:
    with server.session() as client:
        answer = client.post("/v2/deployments", files={"resources": (name, content)})

    assert answer.status_code == 400
    assert "expected '=' but found '=='" in answer.json()["detail"]
