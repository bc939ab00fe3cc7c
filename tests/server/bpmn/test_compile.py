import pytest

from server import feel
from server.bpmn import model
from server.bpmn.builder import ProcessBuilder, definitions, process
from server.bpmn.compile import ELEMENT_TYPES, compile_definitions
from server.bpmn.executable import ElementType, ExecutableProcess, Static
from server.bpmn.model import (
    CatchEvent,
    ConditionalGateway,
    Event,
    FlowNode,
    JobTask,
    ThrowEvent,
    Unsupported,
)
from server.bpmn.reader import read


def compiled(builder: ProcessBuilder) -> ExecutableProcess:
    (executable,) = compile_definitions(read(builder.to_xml()))
    return executable


def test_a_process_knows_its_root_its_start_and_its_elements() -> None:
    executable = compiled(process("order", name="Order", version_tag="v7").start("begin").end("done"))

    assert (executable.id, executable.name, executable.version_tag) == ("order", "Order", "v7")
    assert {"order", "begin", "done"} == set(executable.elements)
    assert executable.root is executable.elements["order"]
    assert executable.root.none_start is executable.elements["begin"]
    assert ElementType.PROCESS is executable.root.type


def test_elements_lie_in_the_process_element() -> None:
    executable = compiled(process("order").start("begin").end())

    assert executable.root is executable.elements["begin"].flow_scope
    assert executable.root.flow_scope is None


def test_flows_connect_both_their_ends() -> None:
    executable = compiled(process("order").start("begin").end("done"))

    begin, done = executable.elements["begin"], executable.elements["done"]
    (flow,) = begin.outgoing
    assert (flow,) == done.incoming
    assert (begin, done) == (flow.source, flow.target)


def test_outgoing_flows_keep_the_order_of_the_document_and_the_default_is_one_of_them() -> None:
    executable = compiled(
        process("order")
        .exclusive_gateway("decide")
        .flow(condition="=total > 10", element_id="large")
        .end()
        .branch("decide")
        .flow(default=True, element_id="other")
        .end()
        .branch("decide")
        .flow(condition="=total > 5", element_id="medium")
        .end()
    )

    gateway = executable.elements["decide"]

    assert [flow.id for flow in gateway.outgoing] == ["large", "other", "medium"]
    assert gateway.default_flow is gateway.outgoing[1]
    assert [feel.Expression, type(None), feel.Expression] == [type(f.condition) for f in gateway.outgoing]


def test_a_job_has_type_retries_and_headers() -> None:
    executable = compiled(
        process("order").service_task(
            "ship", type="ship", retries="5", headers={"carrier": "any", "fast": ""}
        )
    )

    job = executable.elements["ship"].job

    assert job is not None
    assert (Static("ship"), Static("5")) == (job.type, job.retries)
    assert job.headers == {"carrier": "any", "fast": ""}


def test_a_job_has_three_retries_unless_it_says_otherwise() -> None:
    job = compiled(process("order").service_task("ship", type="ship")).elements["ship"].job

    assert job is not None
    assert Static("3") == job.retries


def test_a_task_that_no_worker_does_has_no_job() -> None:
    executable = compiled(process("order").service_task("pack", type="pack", tag="manualTask"))

    assert executable.elements["pack"].job is None


def test_a_leading_equals_sign_makes_an_attribute_an_expression() -> None:
    job = compiled(process("order").service_task("ship", type="=carrier", retries="=5")).elements["ship"].job

    assert job is not None
    assert isinstance(job.type, feel.Expression)
    assert isinstance(job.retries, feel.Expression)


def test_mappings_keep_their_order_and_split_their_targets() -> None:
    executable = compiled(
        process("order").service_task(
            "ship",
            type="ship",
            inputs={"parcel.weight": "= total * 2", "label": "fragile", "nothing": None},
            outputs={"sent": "=true"},
        )
    )

    task = executable.elements["ship"]

    assert [m.target for m in task.input_mappings] == [("parcel", "weight"), ("label",), ("nothing",)]
    assert [Static("fragile"), None] == [m.source for m in task.input_mappings[1:]]
    assert isinstance(task.input_mappings[0].source, feel.Expression)
    assert [m.target for m in task.output_mappings] == [("sent",)]


def test_properties_of_an_element_are_kept() -> None:
    xml = (
        process("order").end("done").to_xml().replace(
            b'<bpmn:endEvent id="done"/>',
            b'<bpmn:endEvent id="done"><bpmn:extensionElements><zeebe:properties>'
            b'<zeebe:property name="colour" value="red"/><zeebe:property name="plain"/>'
            b"</zeebe:properties></bpmn:extensionElements></bpmn:endEvent>",
        )
    )  # fmt: skip

    (executable,) = compile_definitions(read(xml))

    assert executable.elements["done"].properties == {"colour": "red", "plain": ""}


def test_only_executable_processes_are_compiled() -> None:
    drawn = process("drawn").start("other")
    drawn.element.set("isExecutable", "false")

    executables = compile_definitions(read(definitions(process("order").start(), drawn)))

    assert [executable.id for executable in executables] == ["order"]


def test_every_executable_node_of_the_model_has_an_element_type() -> None:
    classes = {thing for thing in vars(model).values() if isinstance(thing, type)}

    nodes = {node for node in classes if issubclass(node, FlowNode)} - {
        FlowNode,
        JobTask,
        CatchEvent,
        ConditionalGateway,
        Event,
        ThrowEvent,
        Unsupported,
    }

    assert nodes == set(ELEMENT_TYPES)


# The process, flows, and what the compiler makes around a repeated activity and inside an ad-hoc sub-process.
NO_NODES = {
    ElementType.PROCESS,
    ElementType.SEQUENCE_FLOW,
    ElementType.MULTI_INSTANCE_BODY,
    ElementType.AD_HOC_SUB_PROCESS_INNER_INSTANCE,
}


@pytest.mark.parametrize("element_type", set(ElementType) - NO_NODES)
def test_every_element_type_is_made_by_some_node(element_type: ElementType) -> None:
    assert element_type in ELEMENT_TYPES.values()
