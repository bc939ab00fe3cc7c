from server.bpmn.builder import definitions, process
from server.bpmn.model import ExclusiveGateway
from server.bpmn.reader import read


def flows_of(xml: bytes) -> list[tuple[str, str]]:
    return [(flow.source_ref, flow.target_ref) for flow in read(xml).processes[0].sequence_flows()]


def test_elements_follow_each_other() -> None:
    xml = process("order").start().service_task("charge", type="charge").manual_task("pack").end().to_xml()

    assert flows_of(xml) == [("start", "charge"), ("charge", "pack"), ("pack", "end")]


def test_a_start_event_is_put_before_a_first_element_of_another_kind() -> None:
    assert flows_of(process("order").task("pack").to_xml()) == [("start", "pack")]


def test_a_fork_is_joined_again() -> None:
    xml = (
        process("order")
        .parallel_gateway("fork")
        .task("left")
        .parallel_gateway("join")
        .branch("fork")
        .task("right")
        .connect_to("join")
        .end()
        .to_xml()
    )

    assert flows_of(xml) == [
        ("start", "fork"),
        ("fork", "left"),
        ("left", "join"),
        ("fork", "right"),
        ("right", "join"),
        ("join", "end"),
    ]


def test_a_flow_is_told_about_before_it_is_made() -> None:
    xml = (
        process("order")
        .exclusive_gateway("decide")
        .flow(condition="=total > 1", element_id="large")
        .end()
        .branch("decide")
        .flow(default=True)
        .end()
        .to_xml()
    )

    nodes = {node.id: node for node in read(xml).processes[0].flow_nodes()}
    flows = {flow.id: flow for flow in read(xml).processes[0].sequence_flows()}
    gateway = nodes["decide"]
    assert isinstance(gateway, ExclusiveGateway)
    assert gateway.default == "decide_to_end_2"
    assert flows["large"].condition == "=total > 1"
    assert flows["decide_to_end_2"].condition is None


def test_generated_ids_never_collide() -> None:
    xml = process("order").start().end().branch("start").connect_to("end").branch("start").end().to_xml()

    ids = [element.id for element in read(xml).processes[0].elements]

    assert len(ids) == len(set(ids))


def test_one_file_holds_several_processes() -> None:
    xml = definitions(process("order").start(), process("refund").start("begin"))

    assert [found.id for found in read(xml).processes] == ["order", "refund"]


def test_markup_in_texts_is_escaped() -> None:
    xml = process("order", name='<"&>').exclusive_gateway("g").flow(condition="=a < b & c").end().to_xml()

    (order,) = read(xml).processes
    assert order.name == '<"&>'
    assert list(order.sequence_flows())[1].condition == "=a < b & c"


def test_the_xml_of_a_builder_stays_the_same_until_it_is_changed() -> None:
    order = process("order").start().end()

    first = order.to_xml()

    assert order.to_xml() == first
    assert order.branch("start").end().to_xml() != first
