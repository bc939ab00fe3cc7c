from server.bpmn.builder import ProcessBuilder, process
from tests.server.engine.scenario import Scenario


def block(*types: str) -> ProcessBuilder:
    """A fork into one service task for each type, joined again."""
    first, *others = types
    builder = process("order").parallel_gateway("fork").service_task(first, type=first)
    builder.parallel_gateway("join").end()
    for other in others:
        builder.branch("fork").service_task(other, type=other).connect_to("join")
    return builder


def rounds() -> ProcessBuilder:
    """Two endless producers, `a` and `b`, whose tokens meet in a join."""
    builder = process("order").parallel_gateway("fork").exclusive_gateway("merge_a")
    builder.service_task("a", type="a").parallel_gateway("join").task("both").end()
    builder.branch("a").connect_to("merge_a")
    builder.branch("fork").exclusive_gateway("merge_b").service_task("b", type="b").connect_to("join")
    return builder.branch("b").connect_to("merge_b")


def test_a_fork_takes_every_flow(engine: Scenario) -> None:
    engine.deploy(block("a", "b", "c")).start()

    assert engine.offered == ["a", "b", "c"]


def test_a_join_waits_for_all_its_flows(engine: Scenario) -> None:
    engine.deploy(block("a", "b", "c")).start().complete("b").complete("a")

    waiting = engine.path
    engine.complete("c")

    assert "join" not in waiting
    assert engine.path == [*waiting, "c", "join", "end"]
    assert engine.is_completed


def test_a_gateway_joins_and_forks_at_once(engine: Scenario) -> None:
    builder = block("a", "b").branch("join").task("too").end()

    engine.deploy(builder).start().complete("a").complete("b")

    assert engine.path[3:] == ["b", "join", "end", "too", "end_2"]


def test_two_flows_between_the_same_two_are_two_flows(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("fork").parallel_gateway("join").end()

    engine.deploy(builder.branch("fork").connect_to("join")).start()

    assert engine.path == ["start", "fork", "join", "end"]
    assert engine.is_completed


def test_a_single_flow_in_is_joined_at_once(engine: Scenario) -> None:
    engine.deploy(process("order").parallel_gateway("alone").end()).start()

    assert engine.is_completed


def test_surplus_tokens_wait_for_the_next_round(engine: Scenario) -> None:
    engine.deploy(rounds()).start().complete("a").complete("a").complete("a")
    before = engine.path.count("both")

    engine.complete("b")
    first = engine.path.count("both")
    engine.complete("b")

    assert (before, first, engine.path.count("both")) == (0, 1, 2)
    assert engine.instance.elements[engine.instance_key].joins == {"a_to_join": 1}


def test_rounds_never_mix_however_the_tokens_arrive(engine: Scenario) -> None:
    engine.deploy(rounds()).start()

    for arrival in "abbaabab":
        engine.complete(arrival)

    assert engine.path.count("both") == 4
    assert engine.instance.elements[engine.instance_key].joins == {}


def test_a_token_that_waits_alone_keeps_the_instance_running(engine: Scenario) -> None:
    builder = process("order").exclusive_gateway("either").flow(condition="=left").task("a")
    builder.parallel_gateway("join").end().branch("either").flow(default=True).task("b").connect_to("join")

    engine.deploy(builder).start(left=True)

    assert engine.path == ["start", "either", "a"]
    assert engine.is_running
    assert engine.cancel().is_terminated


def test_blocks_nest(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("outer").parallel_gateway("inner").task("a")
    builder.parallel_gateway("inner_join").parallel_gateway("outer_join").end()
    builder.branch("inner").task("b").connect_to("inner_join")

    engine.deploy(builder.branch("outer").task("c").connect_to("outer_join")).start()

    assert engine.is_completed
    assert engine.path.count("outer_join") == 1
