"""Control-flow patterns of van der Aalst, ter Hofstede, Russell and Mulyar (2006), by their numbers.

`docs/bpmn.md` lists all of them; a pattern without a test here is one that BPMN has no construct for.
"""

from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from tests.server.engine.scenario import Scenario

HOUR = timedelta(hours=1)


def fork(builder: ProcessBuilder, gateway: str, *names: str, to: str | None = None) -> ProcessBuilder:
    """Tasks of workers beside each other behind a gateway, all of which lead to another one."""
    for name in names:
        builder.branch(gateway).service_task(name, type=name)
        if to is not None:
            builder.connect_to(to)
    return builder


def in_any_order(engine: Scenario) -> list[str]:
    return sorted(engine.offered)


# Basic control flow


def test_wcp_01_sequence(engine: Scenario) -> None:
    engine.deploy(process("order").service_task("a", type="a").service_task("b", type="b").end()).start()

    assert engine.offered == ["a"]
    assert engine.complete("a").offered == ["b"]


def parallel() -> ProcessBuilder:
    builder = process("order").parallel_gateway("split").service_task("a", type="a").parallel_gateway("join")
    return fork(builder, "split", "b", to="join").branch("join").service_task("after", type="after").end()


def test_wcp_02_parallel_split(engine: Scenario) -> None:
    engine.deploy(parallel()).start()

    assert in_any_order(engine) == ["a", "b"]


def test_wcp_03_synchronization(engine: Scenario) -> None:
    engine.deploy(parallel()).start().complete("a")

    assert engine.offered == ["b"]
    assert engine.complete("b").offered == ["after"]


def exclusive() -> ProcessBuilder:
    builder = process("order").exclusive_gateway("choose").flow(condition="=urgent")
    builder.service_task("a", type="a").exclusive_gateway("merge").service_task("after", type="after").end()
    return builder.branch("choose").flow(default=True).service_task("b", type="b").connect_to("merge")


@pytest.mark.parametrize(("urgent", "chosen"), [(True, "a"), (False, "b")])
def test_wcp_04_exclusive_choice(engine: Scenario, *, urgent: bool, chosen: str) -> None:
    engine.deploy(exclusive()).start(urgent=urgent)

    assert engine.offered == [chosen]


@pytest.mark.parametrize(("urgent", "chosen"), [(True, "a"), (False, "b")])
def test_wcp_05_simple_merge(engine: Scenario, *, urgent: bool, chosen: str) -> None:
    engine.deploy(exclusive()).start(urgent=urgent).complete(chosen)

    assert engine.offered == ["after"]


# Advanced branching and synchronization


def inclusive() -> ProcessBuilder:
    builder = process("order").inclusive_gateway("choose")
    for name in "abc":
        builder.branch("choose").flow(condition=f"={name}").service_task(name, type=name)
        builder.inclusive_gateway("join") if name == "a" else builder.connect_to("join")
    return builder.branch("join").service_task("after", type="after").end()


def test_wcp_06_multi_choice(engine: Scenario) -> None:
    engine.deploy(inclusive()).start(a=True, b=False, c=True)

    assert in_any_order(engine) == ["a", "c"]


def test_wcp_07_structured_synchronizing_merge(engine: Scenario) -> None:
    engine.deploy(inclusive()).start(a=True, b=False, c=True).complete("a")

    assert engine.offered == ["c"]
    assert engine.complete("c").offered == ["after"]


def test_wcp_08_multi_merge(engine: Scenario) -> None:
    builder = (
        process("order").parallel_gateway("split").service_task("a", type="a").exclusive_gateway("merge")
    )
    fork(builder, "split", "b", to="merge").branch("merge").service_task("after", type="after").end()
    engine.deploy(builder).start().complete("a").complete("b")

    assert engine.offered == ["after", "after"]


def test_wcp_33_generalized_and_join(engine: Scenario) -> None:
    """Surplus arrivals on one flow wait for further ones on the other flows."""
    builder = (
        process("order").parallel_gateway("split").service_task("a", type="a").exclusive_gateway("merge")
    )
    fork(builder, "split", "b", to="merge").branch("merge").parallel_gateway("join")
    builder.branch("split").service_task("c", type="c").exclusive_gateway("other")
    fork(builder, "split", "d", to="other").connect_to("join")
    engine.deploy(builder.branch("join").service_task("after", type="after").end()).start()

    engine.complete("a").complete("b")
    assert "after" not in engine.offered
    assert engine.complete("c").offered.count("after") == 1
    assert engine.complete("d").offered.count("after") == 2


def test_wcp_37_local_synchronizing_merge(engine: Scenario) -> None:
    """The join waits for the flows that can still come, whatever the gateways before it were."""
    builder = process("order").parallel_gateway("split").service_task("a", type="a").inclusive_gateway("join")
    builder.service_task("after", type="after").end()
    builder.branch("split").exclusive_gateway("choose").flow(condition="=joins").connect_to("join")
    builder.branch("choose").flow(default=True).service_task("b", type="b").end()
    engine.deploy(builder).start(joins=False).complete("a")

    assert in_any_order(engine) == ["after", "b"]


def test_wcp_38_general_synchronizing_merge(engine: Scenario) -> None:
    """The join waits while something can still reach it through a loop."""
    builder = process("order").parallel_gateway("split").service_task("a", type="a").inclusive_gateway("join")
    builder.service_task("after", type="after").end()
    builder.branch("split").exclusive_gateway("again").service_task("b", type="b").exclusive_gateway("enough")
    builder.flow(condition="=done").connect_to("join").branch("enough").flow(default=True).connect_to("again")
    engine.deploy(builder).start(done=False).complete("a").complete("b")

    assert engine.offered == ["b"]
    assert engine.complete("b", done=True).offered == ["after"]


def test_wcp_42_thread_split(engine: Scenario) -> None:
    builder = process("order").service_task("a", type="a").service_task("b", type="b")
    engine.deploy(builder.end("done").branch("a").connect_to("b")).start().complete("a")

    assert engine.offered == ["b", "b"]


# Iteration


def test_wcp_10_arbitrary_cycles(engine: Scenario) -> None:
    """The cycle is entered in two places, and left in one."""
    builder = process("order").exclusive_gateway("enter").flow(condition="=late").exclusive_gateway("second")
    builder.service_task("b", type="b").exclusive_gateway("leave").flow(condition="=done").end()
    builder.branch("enter").flow(default=True).exclusive_gateway("first").service_task("a", type="a")
    builder.connect_to("second").branch("leave").flow(default=True).connect_to("first")
    engine.deploy(builder).start(late=True, done=False).complete("b")

    assert engine.offered == ["a"]
    assert engine.complete("a").offered == ["b"]
    assert engine.complete("b", done=True).is_completed


def test_wcp_21_structured_loop(engine: Scenario) -> None:
    builder = (
        process("order").exclusive_gateway("again").service_task("a", type="a").exclusive_gateway("enough")
    )
    builder.flow(condition="=count >= 3").end().branch("enough").flow(default=True).connect_to("again")
    engine.deploy(builder).start(count=0)
    for count in (1, 2):
        assert engine.complete("a", count=count).offered == ["a"]

    assert engine.complete("a", count=3).is_completed


def test_wcp_22_recursion(engine: Scenario) -> None:
    builder = process("order").exclusive_gateway("choose").flow(condition="=depth < 3")
    builder.call_activity("itself", process="order", inputs={"depth": "=depth + 1"}).end()
    engine.deploy(builder.branch("choose").flow(default=True).service_task("a", type="a").end())
    engine.start(depth=0)
    assert len(engine.state.instances) == 4

    assert engine.complete("a").is_completed
    assert not engine.state.instances


# Termination


def test_wcp_11_implicit_termination(engine: Scenario) -> None:
    """The process instance completes when nothing is left to do, without an end event."""
    builder = process("order").parallel_gateway("split").service_task("a", type="a")
    engine.deploy(fork(builder, "split", "b")).start().complete("a")
    assert engine.is_running

    assert engine.complete("b").is_completed


def test_wcp_43_explicit_termination(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("split").service_task("a", type="a").end_terminate("all")
    engine.deploy(fork(builder, "split", "b")).start().complete("a")

    assert engine.is_completed
    assert "b" not in engine.path


# Multiple instances


def test_wcp_12_multiple_instances_without_synchronization(engine: Scenario) -> None:
    """Each passage of the loop begins another instance, and the loop does not wait for them."""
    builder = (
        process("order").exclusive_gateway("again").service_task("a", type="a").parallel_gateway("split")
    )
    builder.exclusive_gateway("enough").flow(condition="=done").end()
    builder.branch("enough").flow(default=True).connect_to("again")
    engine.deploy(fork(builder, "split", "b")).start(done=False).complete("a").complete("a", done=True)

    assert engine.offered == ["b", "b"]


@pytest.mark.parametrize("items", ["=[1, 2, 3]", "=given"])
def test_wcp_13_14_multiple_instances_with_a_priori_knowledge(engine: Scenario, items: str) -> None:
    """Their number is known in the model, or when the activity is entered."""
    builder = process("order").service_task("a", type="a").multi_instance(items)
    engine.deploy(builder.service_task("after", type="after").end()).start(given=[7, 8, 9])

    assert engine.complete("a").complete("a").offered == ["a"]
    assert engine.complete("a").offered == ["after"]


def test_wcp_15_multiple_instances_without_a_priori_knowledge(engine: Scenario) -> None:
    """Messages begin further instances, and the scope waits for all of them."""
    another = event_sub_process("another").start_message(
        "more", message="more", key="=id", is_interrupting=False
    )
    scope = sub_process("work").beside(another.service_task("b", type="b").end())
    builder = process("order").embed(scope.service_task("a", type="a").end())
    engine.deploy(builder.service_task("after", type="after").end()).start(id="7")
    engine.publish("more", "7").publish("more", "7").complete("a")

    assert engine.offered == ["b", "b"]
    assert engine.complete("b").complete("b").offered == ["after"]


def instances_and_after(builder: ProcessBuilder) -> ProcessBuilder:
    return builder.branch("a").service_task("after", type="after").end()


def test_wcp_26_cancel_multiple_instance_activity(engine: Scenario) -> None:
    builder = process("order").service_task("a", type="a").multi_instance("=[1, 2, 3]")
    builder.boundary_signal("stop", on="a", signal="stop").end("stopped")
    engine.deploy(instances_and_after(builder)).start().complete("a").broadcast("stop")

    assert engine.is_completed
    assert engine.path[-1] == "stopped"


@pytest.mark.parametrize("needed", [1, 2])
def test_wcp_27_35_complete_multiple_instance_activity_by_a_cancelling_partial_join(
    engine: Scenario, needed: int
) -> None:
    """The other instances are terminated, and the process goes on."""
    until = f"=numberOfCompletedInstances >= {needed}"
    builder = process("order").service_task("a", type="a").multi_instance("=[1, 2, 3]", until=until)
    engine.deploy(instances_and_after(builder)).start()
    for _ in range(needed):
        engine.complete("a")

    assert engine.offered == ["after"]


# State


def test_wcp_16_deferred_choice(engine: Scenario) -> None:
    builder = (
        process("order").event_based_gateway("race").message_catch("paid", message="paid", key="=id").end()
    )
    builder.branch("race").timer_catch("late", duration="PT1H").end("expired")
    engine.deploy(builder).start(id="7").publish("paid", "7").advance(2 * HOUR)

    assert engine.path[2] == "paid"
    assert engine.is_completed


# Cancellation


def test_wcp_19_cancel_task(engine: Scenario) -> None:
    builder = (
        process("order").service_task("a", type="a").boundary_signal("stop", on="a", signal="stop").end()
    )
    engine.deploy(builder.branch("a").service_task("after", type="after").end()).start().broadcast("stop")

    assert engine.is_completed
    assert "after" not in engine.path
    assert engine.activate("a") == ()


def test_wcp_20_cancel_case(engine: Scenario) -> None:
    engine.deploy(parallel()).start().cancel()

    assert engine.is_terminated
    assert engine.activate("a") == ()


def test_wcp_25_cancel_region(engine: Scenario) -> None:
    """A region is a sub-process; what runs beside it goes on."""
    region = sub_process("region").parallel_gateway("inner").service_task("a", type="a")
    builder = process("order").parallel_gateway("split").embed(fork(region, "inner", "b"))
    builder.boundary_signal("stop", on="region", signal="stop").end()
    engine.deploy(fork(builder, "split", "c")).start().broadcast("stop")

    assert engine.offered == ["c"]


def test_wcp_29_32_cancelling_discriminator(engine: Scenario) -> None:
    """The first branch that ends terminates the others, and the process goes on once."""
    region = sub_process("race").parallel_gateway("inner").service_task("a", type="a").end_terminate("first")
    builder = process("order").embed(fork(region, "inner", "b", to="first"))
    engine.deploy(builder.service_task("after", type="after").end()).start().complete("b")

    assert engine.offered == ["after"]


# Triggers


def test_wcp_23_transient_trigger(engine: Scenario) -> None:
    """A signal is lost unless something waits for it."""
    builder = process("order").service_task("a", type="a").signal_catch("wait", signal="go").end()
    engine.deploy(builder).start().broadcast("go").complete("a")
    assert engine.is_running

    assert engine.broadcast("go").is_completed


def test_wcp_24_persistent_trigger(engine: Scenario) -> None:
    """A message is kept until something waits for it."""
    builder = (
        process("order").service_task("a", type="a").message_catch("wait", message="go", key="=id").end()
    )
    engine.deploy(builder).start(id="7").publish("go", "7", lives=HOUR)
    assert engine.is_running

    assert engine.complete("a").is_completed
