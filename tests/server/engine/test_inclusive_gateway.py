from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.bpmn.compile import compile_definitions
from server.bpmn.reader import read
from server.engine.documents import unpack
from server.engine.incidents import ErrorType
from tests.server.engine.scenario import Scenario
from tests.server.engine.stored import pages_of

HOUR = timedelta(hours=1)


def choosing(*, default: bool = True, join: bool = True) -> ProcessBuilder:
    """Tasks a, b and c behind conditions, joined again."""
    builder = process("order").inclusive_gateway("choose")
    for name in "abc":
        is_default = default and name == "c"
        builder.branch("choose").flow(condition=None if is_default else f"={name}", default=is_default)
        builder.service_task(name, type=name)
        if join and name == "a":
            builder.inclusive_gateway("join")
        elif join:
            builder.connect_to("join")
    return builder.branch("join").service_task("after", type="after").end() if join else builder


# Fork


@pytest.mark.parametrize(
    ("given", "offered"),
    [
        ({"a": True, "b": True, "c": True}, ["a", "b"]),
        ({"a": False, "b": True, "c": True}, ["b"]),
        ({"a": False, "b": False, "c": False}, ["c"]),
    ],
)
def test_every_condition_that_holds_is_followed_and_the_default_only_without_any(
    engine: Scenario, given: dict[str, bool], offered: list[str]
) -> None:
    engine.deploy(choosing()).start(**given)

    assert sorted(engine.offered) == offered


def test_no_condition_and_no_default_raise_an_incident(engine: Scenario) -> None:
    engine.deploy(choosing(default=False)).start(a=False, b=False, c=False)

    assert engine.incident.error_type is ErrorType.CONDITION_ERROR


def test_a_condition_that_is_neither_is_a_condition_error(engine: Scenario) -> None:
    engine.deploy(choosing()).start(a=True, b=1)

    assert engine.incident.error_type is ErrorType.CONDITION_ERROR
    assert engine.offered == []


# Join


def test_a_join_waits_for_all_that_can_still_come_and_for_nothing_else(engine: Scenario) -> None:
    engine.deploy(choosing()).start(a=True, b=True)

    engine.complete("a")
    assert engine.offered == ["b"]

    engine.complete("b")
    assert engine.offered == ["after"]
    engine.complete("after")
    assert engine.path.count("join") == 1
    assert engine.is_completed


def test_a_join_goes_on_when_what_it_waited_for_takes_another_way(engine: Scenario) -> None:
    builder = (
        process("order")
        .parallel_gateway("split")
        .inclusive_gateway("join")
        .service_task("after", type="after")
    )
    builder.end().branch("split").service_task("b", type="b").exclusive_gateway("turn")
    builder.flow(condition="=back").connect_to("join").branch("turn").flow(default=True).end("elsewhere")
    engine.deploy(builder).start(back=False)
    assert engine.offered == ["b"]

    engine.complete("b")

    assert engine.offered == ["after"]


def test_a_join_goes_on_when_what_it_waited_for_is_interrupted(engine: Scenario) -> None:
    builder = (
        process("order")
        .parallel_gateway("split")
        .inclusive_gateway("join")
        .service_task("after", type="after")
    )
    builder.end().branch("split").service_task("b", type="b").connect_to("join")
    builder.boundary_timer("late", on="b", duration="PT1H").end("expired")
    engine.deploy(builder).start()

    engine.advance(HOUR)

    assert engine.offered == ["after"]


def test_a_join_waits_for_a_boundary_event_that_can_lead_to_it(engine: Scenario) -> None:
    builder = (
        process("order")
        .parallel_gateway("split")
        .inclusive_gateway("join")
        .service_task("after", type="after")
    )
    builder.end().branch("split").service_task("b", type="b").end("elsewhere")
    builder.boundary_timer("late", on="b", duration="PT1H").connect_to("join")
    engine.deploy(builder).start()
    assert engine.offered == ["b"]

    engine.advance(HOUR)

    assert engine.offered == ["after"]


def test_a_join_waits_for_a_link_that_can_lead_to_it(engine: Scenario) -> None:
    builder = (
        process("order")
        .parallel_gateway("split")
        .inclusive_gateway("join")
        .service_task("after", type="after")
    )
    builder.end().branch("split").service_task("b", type="b").throw_link("jump", link="on")
    builder.catch_link("land", link="on").connect_to("join")
    engine.deploy(builder).start()
    assert engine.offered == ["b"]

    engine.complete("b")

    assert engine.offered == ["after"]


def test_a_join_at_the_head_of_a_loop_waits_for_nothing_at_first(engine: Scenario) -> None:
    builder = (
        process("order")
        .inclusive_gateway("again")
        .service_task("try", type="try")
        .exclusive_gateway("enough")
    )
    builder.flow(condition="=enough").end("done").branch("enough").flow(default=True).connect_to("again")
    engine.deploy(builder).start(enough=False)

    engine.complete("try")
    assert engine.offered == ["try"]

    engine.complete("try", enough=True)
    assert engine.is_completed


def test_joins_that_wait_for_each_other_go_on_when_nothing_else_is_left(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("split").inclusive_gateway("one").exclusive_gateway("x")
    builder.flow(default=True).end().branch("split").inclusive_gateway("two").exclusive_gateway("y")
    builder.flow(default=True).end()
    builder.branch("x").flow(condition="=false").connect_to("two")
    builder.branch("y").flow(condition="=false").connect_to("one")
    engine.deploy(builder).start()

    assert engine.is_completed
    assert engine.path.index("one") < engine.path.index("two")


def test_a_join_in_a_scope_that_was_interrupted_is_gone(engine: Scenario) -> None:
    inner = sub_process("pack").parallel_gateway("split").inclusive_gateway("join").end()
    inner.branch("split").service_task("b", type="b").connect_to("join")
    inner.beside(event_sub_process("help").start_timer("late", duration="PT1H").end())
    engine.deploy(process("order").embed(inner).end("done")).start()

    engine.advance(HOUR)

    assert "join" not in engine.path
    assert engine.path[-1] == "done"


def test_a_join_at_the_end_of_a_loop_waits_in_each_round(engine: Scenario) -> None:
    builder = process("order").exclusive_gateway("head").inclusive_gateway("choose")
    builder.branch("choose").flow(condition="=true").service_task("a", type="a").inclusive_gateway("join")
    builder.branch("choose").flow(condition="=both").service_task("b", type="b").connect_to("join")
    builder.branch("join").exclusive_gateway("enough").flow(condition="=enough").end("done")
    builder.branch("enough").flow(default=True).connect_to("head")
    engine.deploy(builder).start(both=True, enough=False)

    engine.complete("a")
    assert engine.offered == ["b"]
    engine.complete("b", both=False)
    assert engine.offered == ["a"]

    engine.complete("a", both=True)
    assert sorted(engine.offered) == ["a", "b"]
    engine.complete("b")
    assert engine.offered == ["a"]
    engine.complete("a", enough=True)

    assert engine.is_completed
    assert engine.path.count("join") == 3


def test_a_join_does_not_wait_for_what_reaches_it_only_through_itself(engine: Scenario) -> None:
    """BPMN 2.0.2 §13.4.3: a path that visits the gateway does not count."""
    builder = process("order").parallel_gateway("split").inclusive_gateway("join").parallel_gateway("fork")
    builder.service_task("back", type="back").connect_to("join")
    builder.branch("fork").service_task("on", type="on").end()
    builder.branch("split").service_task("late", type="late").connect_to("join")
    engine.deploy(builder).start()
    assert engine.offered == ["late"]

    engine.complete("late")

    assert sorted(engine.offered) == ["back", "on"]


def test_a_join_waits_for_a_sub_process_beside_it_and_for_nothing_around_its_own_scope(
    engine: Scenario,
) -> None:
    inner = sub_process("pack").parallel_gateway("inner_split").inclusive_gateway("inner_join")
    inner.service_task("wrap", type="wrap").end()
    inner.branch("inner_split").service_task("fold", type="fold").connect_to("inner_join")
    builder = process("order").parallel_gateway("split").inclusive_gateway("join")
    builder.service_task("after", type="after").end()
    builder.branch("split").embed(inner).connect_to("join")
    builder.branch("split").service_task("other", type="other").connect_to("join")
    engine.deploy(builder).start()
    assert sorted(engine.offered) == ["fold", "other"]

    engine.complete("fold")
    assert sorted(engine.offered) == ["other", "wrap"]
    engine.complete("other")
    assert engine.offered == ["wrap"]

    assert engine.complete("wrap").offered == ["after"]
    assert engine.complete("after").is_completed


def test_each_instance_of_a_repeated_sub_process_joins_for_itself(engine: Scenario) -> None:
    inner = sub_process("pack").start().parallel_gateway("split").inclusive_gateway("join")
    inner.service_task("wrap", type="wrap").end()
    inner.branch("split").service_task("fold", type="fold").connect_to("join")
    builder = process("order").start().embed(inner).multi_instance("=[1, 2, 3]", element="item").end()
    engine.deploy(builder).start()

    engine.complete("fold")
    assert engine.offered == ["fold", "fold", "wrap"]

    engine.complete("fold").complete("fold").complete("wrap").complete("wrap").complete("wrap")
    assert engine.is_completed
    assert engine.path.count("join") == 3


def test_a_join_does_not_wait_for_an_event_sub_process_of_its_scope(engine: Scenario) -> None:
    help_ = event_sub_process("help").start_timer("late", duration="PT1H", is_interrupting=False)
    inner = sub_process("pack").parallel_gateway("split").inclusive_gateway("join")
    inner.service_task("after", type="after").end()
    inner.branch("split").service_task("b", type="b").connect_to("join")
    inner.beside(help_.service_task("mend", type="mend").end())
    engine.deploy(process("order").embed(inner).end("done")).start().advance(HOUR)
    assert sorted(engine.offered) == ["b", "mend"]

    engine.complete("b")
    assert sorted(engine.offered) == ["after", "mend"]

    assert engine.complete("after").complete("mend").is_completed


def test_a_waiting_join_is_migrated_with_its_taken_flows(engine: Scenario) -> None:
    def version(process_id: str) -> ProcessBuilder:
        builder = (
            process(process_id).parallel_gateway("split").flow(element_id="in").inclusive_gateway("join")
        )
        builder.end().branch("split").service_task("b", type="b").flow(element_id="other").connect_to("join")
        return builder

    engine.deploy(version("later")).deploy(version("order")).start()

    engine.migrate("later", {"b": "b", "join": "join", "in": "in", "other": "other"}).complete("b")

    assert engine.is_completed


def test_a_migration_may_open_a_join(engine: Scenario) -> None:
    source = process("order").parallel_gateway("split").flow(element_id="in").inclusive_gateway("join")
    source.service_task("after", type="after").end().branch("split").service_task("b", type="b")
    source.flow(element_id="other").connect_to("join")
    target = process("later").parallel_gateway("split").flow(element_id="in").inclusive_gateway("join")
    target.service_task("after", type="after").end().branch("split").service_task("b", type="b").end()
    target.branch("split").task("c").flow(element_id="other").connect_to("join")
    engine.deploy(target).deploy(source).start()

    engine.migrate("later", {"b": "b", "join": "join", "in": "in", "other": "other"})

    assert sorted(engine.offered) == ["after", "b"]


# Cost


def many(count: int) -> Scenario:
    """One path waits at a join for a task with as many element instances."""
    builder = process("order").parallel_gateway("split").inclusive_gateway("join").end("done")
    builder.branch("split").parallel_gateway("fan").service_task("work", type="work").connect_to("join")
    for _ in range(count - 1):
        builder.branch("fan").connect_to("work")
    return Scenario().deploy(builder).start()


def test_a_join_looks_at_elements_and_not_at_their_instances() -> None:
    engine = many(50)
    engine.complete("work")
    instance = engine.instance
    counted = instance.standing[engine.instance_key]

    assert counted == {"work": 49}
    for _ in range(49):
        engine.complete("work")
    assert engine.is_running is False
    engine.expect_laws()


def test_what_was_counted_is_the_same_after_a_recovery_and_after_a_refusal() -> None:
    engine = many(3)
    engine.complete("work")

    recovered = unpack(pages_of(engine.instance))

    assert recovered.standing == {}
    assert recovered.standing_in(engine.instance_key) == engine.instance.standing[engine.instance_key]


def test_a_large_process_of_inclusive_gateways_is_compiled_at_once() -> None:
    """Ten thousand elements and flows, of which two hundred lead to joins."""
    builder = process("order").start("start")
    for number in range(100):
        builder.inclusive_gateway(f"fork{number}").flow(default=True).task(f"a{number}_0")
        for step in range(1, 48):
            builder.task(f"a{number}_{step}")
        builder.inclusive_gateway(f"join{number}")
        builder.branch(f"fork{number}").flow(condition="=true").connect_to(f"join{number}")
    (compiled,) = compile_definitions(read(builder.to_xml()))

    joins = compiled.root.inclusive_joins

    assert len(joins) == 100
    assert all(len(join.leading) == 2 for join in joins)
    assert joins[0].leading["a0_47_to_join0"].bit_count() < joins[99].leading["a99_47_to_join99"].bit_count()
