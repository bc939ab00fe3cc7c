"""The check of a model that an editor asks for."""

import pytest

from gnomon.engine.v1 import lint_service_pb2 as pb
from server.bpmn.builder import process
from server.lint.catalogue import RULES
from server.lint.rule import Family
from server.lint.rules.deployments import MAX_FLOW_ELEMENTS
from server.platform.call import Call, TenantId
from server.platform.errors import InvalidArgument
from server.rpc.lint import MOST_FINDINGS, LintServicer
from tests.server.rpc.caller import POLICIES

TASK = '<bpmn:serviceTask id="t{}" />'


async def linted(name: str, content: str) -> pb.LintResourceResponse:
    request = pb.LintResourceRequest(resource_name=name, content=content)
    call = Call(POLICIES["LintResource"], request, {}, tenant_id=TenantId("default"))
    return await LintServicer().lint_resource(request, call)


def model(elements: str) -> str:
    return f"""<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:test">
<bpmn:process id="p" isExecutable="true"><bpmn:startEvent id="s" />{elements}</bpmn:process></bpmn:definitions>"""


async def test_a_finding_names_rule_element_and_line() -> None:
    answer = await linted("order.bpmn", model("\n" + TASK.format(1)))

    (found,) = (each for each in answer.findings if each.rule_id == "task-definition")
    assert (found.severity, found.element_id, found.line, found.refuses) == ("error", "t1", 3, True)


async def test_a_model_that_can_be_deployed_has_warnings_at_most() -> None:
    answer = await linted("idle.bpmn", process("idle").start().to_xml().decode())

    assert {each.severity for each in answer.findings} == {"warning"}
    assert not any(each.refuses for each in answer.findings)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        pytest.param("a.BPMN", "xml-well-formed", id="a process"),
        pytest.param("a.xml", "xml-well-formed", id="a process in a file of XML"),
        pytest.param("a.dmn", "dmn-readable", id="decisions"),
        pytest.param("a.form", "form-readable", id="a form"),
    ],
)
async def test_the_ending_of_the_name_chooses_the_rules(name: str, rule: str) -> None:
    answer = await linted(name, "neither")

    assert [rule] == [each.rule_id for each in answer.findings]


async def test_another_ending_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"ends with one of \.bpmn"):
        await linted("order.txt", "order")


async def test_an_answer_has_the_first_findings_and_their_number() -> None:
    tasks = "".join(map(TASK.format, range(MOST_FINDINGS)))
    answer = await linted("many.bpmn", model(tasks))

    assert len(answer.findings) == MOST_FINDINGS
    assert answer.total_findings > MOST_FINDINGS


async def test_a_model_with_too_many_elements_has_one_finding() -> None:
    tasks = "".join(map(TASK.format, range(MAX_FLOW_ELEMENTS)))
    answer = await linted("large.bpmn", model(tasks))

    assert [each.rule_id for each in answer.findings] == ["flow-element-count"]


@pytest.mark.parametrize(
    ("name", "family"),
    [("a.bpmn", Family.BPMN), ("a.b.XML", Family.BPMN), ("a.dmn", Family.DMN), ("a.FORM", Family.FORM)],
)
async def test_a_request_gets_the_rules_about_its_kind_of_file_when_it_asks_for_them(
    name: str, family: Family
) -> None:
    asking = pb.LintResourceRequest(resource_name=name, content="neither", include_rules=True)
    call = Call(POLICIES["LintResource"], asking, {}, tenant_id=TenantId("default"))
    asked = await LintServicer().lint_resource(asking, call)

    assert {each.id for each in asked.rules} == {rule.id for rule in RULES if rule.family is family}
    assert not (await linted("a.bpmn", "neither")).rules
