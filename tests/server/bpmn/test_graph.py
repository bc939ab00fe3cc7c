from server.bpmn.builder import process
from server.bpmn.graph import Graph
from server.bpmn.reader import read


def graph_of(xml: bytes) -> Graph:
    return Graph.of(read(xml).processes[0])


def test_a_node_knows_what_enters_and_leaves_it() -> None:
    graph = graph_of(process("order").start("a").task("b").end("c").to_xml())

    assert [flow.source_ref for flow in graph.entering("b")] == ["a"]
    assert [flow.target_ref for flow in graph.leaving("b")] == ["c"]
    assert graph.entering("a") == ()


def test_a_flow_that_dangles_is_left_out() -> None:
    graph = graph_of(
        process("order").start("a").end("b").to_xml().replace(b'targetRef="b"', b'targetRef="x"')
    )

    assert graph.leaving("a") == ()


def test_what_no_path_leads_to_is_not_reachable() -> None:
    graph = graph_of(process("order").start("a").end("b").start("island").to_xml())

    assert graph.reachable(["a"]) == {"a", "b"}
    assert {"island"} == graph.reachable(["island"])


def test_a_cycle_is_found_only_within_the_given_nodes() -> None:
    graph = graph_of(process("order").start("a").task("b").task("c").connect_to("b").to_xml())

    assert {"b", "c"} == set(graph.cycle(frozenset({"a", "b", "c"})))
    assert graph.cycle(frozenset({"a", "b"})) == ()


def test_a_long_chain_is_no_cycle() -> None:
    builder = process("order").start("n0")
    for number in range(1, 5000):
        builder.task(f"n{number}")
    graph = graph_of(builder.to_xml())

    assert graph.cycle(frozenset(graph.nodes)) == ()
    assert len(graph.reachable(["n0"])) == 5000
