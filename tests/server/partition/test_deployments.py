import pytest

from server.bpmn.builder import definitions, process
from server.engine.definitions import executable_processes
from server.lint.catalogue import RULES
from server.lint.rules.deployments import MAX_FLOW_ELEMENTS
from server.lint.rules.deployments import MAX_RESOURCE_BYTES as MAX_BYTES
from server.lint.rules.deployments import MAX_RESOURCE_ID_LENGTH as MAX_ID_LENGTH
from server.partition.deployments import prepared
from server.platform.errors import InvalidArgument
from tests.server.engine.form_files import form_json
from tests.server.engine.resource_files import rpa_json
from tests.server.engine.scenario import Scenario
from tests.server.lint.deployment_cases import CASES

ORDER = process("order").service_task("charge", type="charge").end().to_xml()


def refusal(*files: tuple[str, bytes]) -> str:
    with pytest.raises(InvalidArgument) as caught:
        prepared("default", files)
    return caught.value.detail


def rules_of(detail: str) -> list[str]:
    """The rules that a refusal names."""
    lines = [line for line in detail.splitlines()[1:] if "ERROR: " in line]
    return [line.rpartition(" [")[2].removesuffix("]") for line in lines]


@pytest.mark.parametrize("rule_id", CASES)
def test_a_deployment_that_breaks_a_rule_is_refused_with_the_id_of_the_catalogue(rule_id: str) -> None:
    detail = refusal(*CASES[rule_id].broken)

    assert rules_of(detail) == [rule_id]
    assert rule_id in {rule.id for rule in RULES if rule.refuses}


@pytest.mark.parametrize("rule_id", CASES)
def test_the_mended_twin_is_deployed(rule_id: str) -> None:
    command = prepared("default", CASES[rule_id].mended)

    assert command.resources or command.decision_models or command.forms or command.generic


def test_files_become_a_command_that_the_engine_takes() -> None:
    both = definitions(process("a").end(), process("b").start("start_b").end("end_b"))

    command = prepared("default", [("order.bpmn", ORDER), ("both.XML", both)])

    assert [(resource.name, resource.process_ids) for resource in command.resources] == [
        ("order.bpmn", ("order",)),
        ("both.XML", ("a", "b")),
    ]
    answer = Scenario().execute(command)
    assert [found.version for found in answer.definitions] == [1, 1, 1]  # type: ignore[union-attr]


def test_a_process_that_is_not_executable_is_left_out() -> None:
    xml = definitions(process("a").end(), process("b").start("start_b").end("end_b")).replace(
        b'"b" isExecutable="true"', b'"b"'
    )

    command = prepared("default", [("both.bpmn", xml)])

    assert command.resources[0].process_ids == ("a",)


def test_the_checksum_is_that_of_the_content() -> None:
    first, again, other = [
        prepared("default", [("order.bpmn", content)]).resources[0].checksum
        for content in (ORDER, ORDER, ORDER + b"\n")
    ]

    assert first == again != other


def test_compiling_is_done_before_the_engine_sees_the_command() -> None:
    content = process("costly").service_task("charge", type="charge").end().to_xml()

    command = prepared("default", [("costly.bpmn", content)])

    before = executable_processes.cache_info().misses
    Scenario().execute(command)
    assert executable_processes.cache_info().misses == before


def test_every_problem_of_every_file_is_in_the_one_refusal() -> None:
    lacking = process("lacking").node("serviceTask", "charge").end().to_xml()

    detail = refusal(("a.txt", b"\xff"), ("b.bpmn", b"no XML"), ("c.bpmn", lacking), ("d.bpmn", ORDER))

    assert detail.startswith("Expected to deploy new resources, but encountered the following errors:\n")
    assert "The file is not text: expected text in UTF-8" in detail
    assert "[resource-text]" in detail
    assert "'b.bpmn':" in detail
    assert "xml-well-formed" in detail
    assert "- Element: charge" in detail
    assert "[task-definition]" in detail
    assert "d.bpmn" not in detail


def test_one_process_cannot_stand_twice_in_a_deployment() -> None:
    detail = refusal(("a.bpmn", ORDER), ("b.bpmn", ORDER))

    assert "process 'order' stands in this deployment 2 times [process-id-unique]" in detail


def flows(count: int) -> bytes:
    """Sequence flows that a rule would refuse."""
    written = b"".join(b'<bpmn:sequenceFlow id="f%d"/>' % number for number in range(count))
    return (
        b'<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"><bpmn:process id="p">'
        b'<bpmn:subProcess id="inner">%s</bpmn:subProcess></bpmn:process></bpmn:definitions>' % written
    )


def test_the_flow_elements_of_a_deployment_are_bounded_before_they_are_linted() -> None:
    half = MAX_FLOW_ELEMENTS // 2

    detail = refusal(("a.bpmn", flows(half)), ("b.bpmn", flows(half)))

    assert detail.splitlines()[1:] == [
        (
            "- ERROR: The files of the deployment have too many flow nodes and sequence flows:"
            f" expected at most {MAX_FLOW_ELEMENTS}, found {MAX_FLOW_ELEMENTS + 2} [flow-element-count]"
        )
    ]


def test_a_file_is_compiled_once_however_many_processes_it_has() -> None:
    many = definitions(*(process(f"p{number}").start(f"s{number}").end(f"e{number}") for number in range(5)))
    before = executable_processes.cache_info().misses

    command = prepared("default", [("many.bpmn", many)])
    Scenario().execute(command)

    assert len(command.resources[0].process_ids) == 5
    assert executable_processes.cache_info().misses == before + 1


def test_forms_come_with_their_ids_and_tags() -> None:
    content = form_json("payment", tag="stable")

    (file,) = prepared("default", [("Payment.FORM", content)]).forms

    assert (file.name, file.form_id, file.version_tag) == ("Payment.FORM", "payment", "stable")
    assert (file.schema, len(file.checksum)) == (content.decode(), 64)


def test_problems_of_forms_are_in_the_refusal() -> None:
    detail = refusal(
        ("half.form", b'{"id": '),
        ("nameless.form", b'{"type": "default"}'),
        ("a.form", form_json("twice")),
        ("b.form", form_json("twice", title="other")),
    )

    assert "'half.form':\n- Element: without id\n    - ERROR: The form is not readable JSON" in detail
    assert "'nameless.form':\n- Element: without id\n    - ERROR: The form needs an id" in detail
    assert "form 'twice' stands in this deployment 2 times [form-id-unique]" in detail


def test_a_form_with_warnings_is_deployed() -> None:
    content = form_json("advised", schemaVersion=99, components=[{"type": "carousel"}])

    assert prepared("default", [("advised.form", content)]).forms


def test_other_files_are_generic_resources_with_their_names_as_ids() -> None:
    command = prepared("default", [("Robot.RPA", rpa_json(tag="stable")), ("work.py", b"pass")])

    found = [(file.name, file.resource_id, file.version_tag, file.content) for file in command.generic]
    assert found == [
        ("Robot.RPA", "robot", "stable", rpa_json(tag="stable").decode()),
        ("work.py", "work.py", None, "pass"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        pytest.param("a.rpa", b'{"id": ', "expected a JSON object with an id", id="half"),
        pytest.param("a.rpa", b'["id"]', "expected a JSON object with an id", id="a list"),
        pytest.param("a.rpa", b"{}", "expected a JSON object with an id", id="without id"),
        pytest.param("a.rpa", b'{"id": " "}', "expected an id that is not blank", id="blank id"),
        pytest.param("a.rpa", b"[" * 100_000, "expected a JSON object with an id", id="deep"),
        pytest.param(
            "a.rpa",
            rpa_json("i" * (MAX_ID_LENGTH + 1)),
            f"of at most {MAX_ID_LENGTH} characters",
            id="long id",
        ),
        pytest.param(
            "a.rpa",
            rpa_json(tag="t" * (MAX_ID_LENGTH + 1)),
            f"of at most {MAX_ID_LENGTH} characters",
            id="long tag",
        ),
        pytest.param("a.py", b"\xff", "expected text in UTF-8", id="not UTF-8"),
        pytest.param("a.py", b"a\0b", "expected text, found a NUL character", id="NUL"),
        pytest.param("a.py", b" " * (MAX_BYTES + 1), f"expected at most {MAX_BYTES} bytes", id="too long"),
    ],
)
def test_what_is_no_generic_resource_is_refused(name: str, content: bytes, reason: str) -> None:
    detail = refusal((name, content))

    assert f"'{name}':" in detail
    assert reason in detail


def test_generic_resources_at_the_bounds_are_deployed() -> None:
    longest = "i" * MAX_ID_LENGTH

    command = prepared("default", [("a.rpa", rpa_json(longest, tag=longest)), ("a.py", b" " * MAX_BYTES)])

    assert [file.resource_id for file in command.generic] == [longest, "a.py"]


def test_an_id_stands_once_in_a_deployment() -> None:
    detail = refusal(("a.rpa", rpa_json("twice")), ("b.rpa", rpa_json("twice", script="other")))

    assert "resource 'twice' stands in this deployment 2 times [resource-id-unique]" in detail
