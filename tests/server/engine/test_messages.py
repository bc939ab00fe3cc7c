"""Messages within one partition; `tests.server.partition.test_messages` has those that go to others."""

from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process, sub_process
from server.engine import events, message_commands, message_events, process_instance_commands
from server.engine import process as handle
from server.engine.incidents import ErrorType
from server.engine.keys import Key
from server.engine.lifecycle import ElementState
from server.engine.limits import EngineLimits
from server.engine.messages import MOST_CHARACTERS, Message
from server.engine.rejection import RejectionType
from server.engine.state import NotLoaded
from tests.server.engine.scenario import Scenario

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def waiting(process_id: str = "order", key: str = "=id", **outputs: str) -> ProcessBuilder:
    return process(process_id).message_catch("wait", message="paid", key=key, outputs=outputs).end("done")


def guarded(*, is_interrupting: bool = True) -> ProcessBuilder:
    """A task with a message at its boundary."""
    return (
        process("order").service_task("ship", type="ship").end("done")
        .boundary_message("news", on="ship", message="news", key="=id", is_interrupting=is_interrupting)
        .service_task("tell", type="tell").end("told")
    )  # fmt: skip


def names(engine: Scenario) -> list[str]:
    """Of the messages in the buffer."""
    return [message.name for message in engine.state.messages.messages.values()]


# Catching


@pytest.mark.parametrize("tag", ["intermediateCatchEvent", "receiveTask"])
def test_a_message_goes_to_what_waits_for_its_name_and_key(engine: Scenario, tag: str) -> None:
    engine.deploy(process("order").message_catch("wait", message="paid", key="=id", tag=tag).end("done"))
    engine.start(id="a-1")

    engine.publish("paid", "a-2").publish("sold", "a-1")
    assert engine.element("wait").state is ElementState.ACTIVATED

    engine.publish("paid", "a-1", amount=5)
    assert engine.path == ["start", "wait", "done"]
    assert engine.variables() == {"id": "a-1", "amount": 5}


@pytest.mark.parametrize(
    ("value", "key"), [(7, "7"), ("7", "7"), (1.50, "1.5"), (-3, "-3"), ("", ""), (10**30, "1" + "0" * 30)]
)
def test_a_correlation_key_is_a_text_or_a_number(engine: Scenario, value: object, key: str) -> None:
    engine.deploy(waiting()).start(id=value).publish("paid", key)

    assert engine.is_completed


@pytest.mark.parametrize("value", [None, True, [1], {"x": 1}])
def test_a_correlation_key_of_another_type_is_an_incident_that_can_be_mended(
    engine: Scenario, value: object
) -> None:
    engine.deploy(waiting()).start(id=value)

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert "Expected result of the expression 'id' to be 'STRING or NUMBER'" in engine.incident.message


def test_a_key_that_is_too_long_is_an_incident(engine: Scenario) -> None:
    engine.deploy(waiting()).start(id="x" * (MOST_CHARACTERS + 1))

    assert engine.incident.error_type is ErrorType.EXTRACT_VALUE_ERROR
    assert f"{MOST_CHARACTERS} characters at most, found {MOST_CHARACTERS + 1}" in engine.incident.message


def test_the_name_of_a_message_may_be_an_expression(engine: Scenario) -> None:
    engine.deploy(process("order").message_catch("wait", message='="paid-" + kind', key="=id").end("done"))

    engine.start(id="a", kind="card").publish("paid-card", "a")

    assert engine.is_completed


def test_name_and_key_stay_as_they_were_when_the_element_began_to_wait(engine: Scenario) -> None:
    engine.deploy(
        process("order")
        .parallel_gateway("fork")
        .message_catch("wait", message="paid", key="=id")
        .end("done")
        .branch("fork")
        .service_task("change", type="change")
        .end()
    )

    engine.start(id="a").complete("change", id="b").publish("paid", "b")
    assert engine.is_running

    engine.publish("paid", "a")
    assert engine.is_completed


def test_outputs_decide_what_comes_of_the_variables(engine: Scenario) -> None:
    engine.deploy(waiting(total="=amount + 1")).start(id="a").publish("paid", "a", amount=1)

    assert engine.variables() == {"id": "a", "total": 2}


def test_variables_are_local_to_an_event_with_output_mappings(engine: Scenario) -> None:
    engine.deploy(waiting(total="=amount + 1")).start(id="a")
    event = engine.element("wait").key

    engine.publish("paid", "a", amount=1)

    assert engine.variables(event) == {"amount": 1}
    assert engine.variables() == {"id": "a", "total": 2}


@pytest.mark.parametrize("kind", [None, 7, True, ["card"]])
def test_a_name_that_is_no_text_is_an_incident(engine: Scenario, kind: object) -> None:
    engine.deploy(process("order").message_catch("wait", message="=kind", key="=id").end())

    engine.start(id="a", kind=kind)

    assert (engine.incident.error_type, engine.incident.element_id) == (ErrorType.EXTRACT_VALUE_ERROR, "wait")
    assert "Expected result of the expression 'kind' to be 'STRING'" in engine.incident.message


def test_one_of_another_tenant_is_not_found(engine: Scenario) -> None:
    engine.deploy(waiting()).start(id="a")

    engine.execute(message_commands.PublishMessage(tenant_id="other", name="paid", correlation_key="a"))

    assert engine.is_running


@pytest.mark.parametrize("is_sequential", [True, False])
def test_each_instance_of_a_repeated_receive_task_waits_for_its_own(
    engine: Scenario, *, is_sequential: bool
) -> None:
    engine.deploy(
        process("order").receive_task("wait", message="paid", key="=id")
        .multi_instance("=ids", element="id", sequential=is_sequential).end("done")
    )  # fmt: skip
    engine.start(ids=["a", "b"])
    assert len(engine.state.messages.subscriptions) == (1 if is_sequential else 2)

    engine.publish("paid", "a").publish("paid", "b")

    assert engine.path == ["start", "wait", "wait", "wait", "done"]
    assert engine.state.messages.subscriptions == {}


def test_a_repeated_receive_task_that_is_done_takes_no_more(engine: Scenario) -> None:
    engine.deploy(
        process("order").receive_task("wait", message="paid", key='="a"')
        .multi_instance("=ids", until="=numberOfCompletedInstances = 1").end("done")
    )  # fmt: skip
    engine.start(ids=list(range(40))).publish("paid", "a").publish("paid", "a", lives=HOUR)

    assert engine.is_completed
    assert names(engine) == ["paid"]
    assert engine.start(ids=[1]).is_completed


# On a boundary


def test_an_interrupting_message_ends_its_task(engine: Scenario) -> None:
    engine.deploy(guarded()).start(id="a")

    engine.publish("news", "a", text="late")

    assert engine.path == ["start", "news"]
    assert engine.offered == ["tell"]
    assert engine.variables()["text"] == "late"
    assert engine.state.messages.subscriptions == {}


def test_one_that_does_not_interrupt_comes_again_and_again(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False)).start(id="a")

    engine.publish("news", "a").publish("news", "a")

    assert engine.offered == ["ship", "tell", "tell"]
    engine.complete("ship").publish("news", "a")
    assert engine.offered == ["tell", "tell"]
    assert engine.state.messages.subscriptions == {}


def test_a_receive_task_has_boundary_events(engine: Scenario) -> None:
    task = process("order").receive_task("wait", message="paid", key="=id").end("done")
    engine.deploy(task.boundary_timer("late", on="wait", duration="PT1H").end("expired"))

    engine.start(id="a").advance(HOUR)
    assert engine.path == ["start", "late", "expired"]
    assert engine.state.messages.subscriptions == {}

    engine.start(id="a").publish("paid", "a")
    assert engine.path == ["start", "wait", "done"]


def test_messages_that_were_buffered_come_to_one_that_does_not_interrupt_each_once(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False))
    engine.publish("news", "a", lives=HOUR, n=1).publish("news", "a", lives=HOUR, n=2)

    engine.start(id="a")

    assert engine.offered == ["ship", "tell", "tell"]
    assert names(engine) == ["news", "news"]


def test_an_interrupted_scope_waits_for_nothing_inside_it(engine: Scenario) -> None:
    inside = sub_process("inside").start().message_catch("wait", message="paid", key="=id").end()
    engine.deploy(
        process("order").start().embed(inside).end()
        .boundary_message("stop", on="inside", message="stop", key="=id").end("stopped")
    )  # fmt: skip
    engine.start(id="a")

    engine.publish("stop", "a")

    assert engine.is_completed
    assert engine.state.messages.subscriptions == {}


def test_a_message_that_comes_while_the_end_listener_works_still_interrupts(engine: Scenario) -> None:
    engine.deploy(
        process("order").service_task("ship", type="ship").execution_listener("end", type="listen").end()
        .boundary_message("news", on="ship", message="news", key="=id").end("told")
    )  # fmt: skip

    engine.start(id="a").complete("ship").publish("news", "a")

    assert engine.path == ["start", "news", "told"]


# Event sub-processes


@pytest.mark.parametrize("is_interrupting", [True, False])
def test_a_message_begins_an_event_sub_process(engine: Scenario, *, is_interrupting: bool) -> None:
    inside = event_sub_process("news").start_message(
        "told", message="news", key="=id", is_interrupting=is_interrupting
    )
    engine.deploy(
        process("order").start().service_task("ship", type="ship").end()
        .beside(inside.service_task("tell", type="tell").end())
    )  # fmt: skip
    engine.start(id="a")

    engine.publish("news", "a", text="late").publish("news", "a")

    assert engine.offered == (["tell"] if is_interrupting else ["ship", "tell", "tell"])
    assert len(engine.state.messages.subscriptions) == (0 if is_interrupting else 1)


def told_at_end() -> ProcessBuilder:
    """A process that a message can add to until it is left, with a listener at its end."""
    inside = event_sub_process("news").start_message("told", message="news", key="=id", is_interrupting=False)
    builder = process("order").execution_listener("end", type="listen").start()
    builder.service_task("ship", type="ship").end()
    return builder.beside(inside.service_task("tell", type="tell").end())


def test_a_message_that_comes_while_the_scope_is_left_stays_in_the_buffer(engine: Scenario) -> None:
    engine.deploy(told_at_end()).start(id="a").complete("ship")
    assert engine.instance.elements[engine.instance_key].state is ElementState.COMPLETING

    engine.publish("news", "a", lives=HOUR)
    assert engine.offered == ["order"]
    assert engine.state.messages.subscriptions == {}
    engine.complete("listen")

    assert engine.is_completed
    assert engine.start(id="a").offered == ["ship", "tell"]


def test_a_message_that_comes_while_the_scope_is_left_goes_to_the_next_that_waits(engine: Scenario) -> None:
    engine.deploy(told_at_end()).start(id="a").complete("ship").start(id="a")

    engine.publish("news", "a")

    assert engine.offered == ["ship", "tell"]


@pytest.mark.parametrize("wait", ["itself", "boundary"])
def test_what_is_about_to_be_terminated_takes_no_message(wait: str) -> None:
    """The instance is terminated in slices, of which the first leaves the one that waits."""
    engine = Scenario(limits=EngineLimits(slice_steps=1_000))
    builder = process("order").parallel_gateway("fork")
    for number in range(20):
        builder.branch("fork").service_task(f"ship-{number}", type="ship").end()
    if wait == "itself":
        builder.branch("fork").message_catch("last", message="paid", key="=id").end()
    else:
        builder.branch("fork").service_task("last", type="ship").end()
        builder.boundary_message("news", on="last", message="paid", key="=id", is_interrupting=False).end()
    engine.deploy(builder).start(id="a")
    cancellation = process_instance_commands.CancelProcessInstance("default", engine.instance_key)
    engine.happens(handle(engine.state, cancellation, engine.now).events)
    assert engine.element("last").state is ElementState.ACTIVATED

    engine.happens(handle(engine.state, engine.publication("paid", "a", lives=HOUR), engine.now).events)

    (message,) = engine.state.messages.messages.values()
    assert message.process_ids == {}
    assert engine.state.messages.subscriptions == {}
    engine.publish("other").expect_laws()
    assert engine.is_terminated


def test_what_a_completion_condition_ends_takes_no_message() -> None:
    engine = Scenario(limits=EngineLimits(slice_steps=1_000))
    engine.deploy(
        process("order").receive_task("wait", message="paid", key='="a"')
        .multi_instance("=ids", until="=numberOfCompletedInstances = 1").end("done")
    )  # fmt: skip
    engine.start(ids=list(range(40)))
    engine.happens(handle(engine.state, engine.publication("paid", "a"), engine.now).events)
    assert ElementState.ACTIVATED in {
        each.state for each in engine.instance.elements.values() if each.loop_counter
    }

    engine.happens(handle(engine.state, engine.publication("paid", "a", lives=HOUR), engine.now).events)

    (message,) = engine.state.messages.messages.values()
    assert message.process_ids == {}
    engine.publish("other").expect_laws()
    assert engine.is_completed


# Behind an event-based gateway


def race() -> ProcessBuilder:
    builder = process("order").event_based_gateway("race").message_catch("paid", message="paid", key="=id")
    builder.end("shipped").branch("race").message_catch("stop", message="stop", key="=id").end("stopped")
    return builder.branch("race").timer_catch("late", duration="PT1H").end("expired")


def test_the_message_that_comes_first_wins_with_its_variables(engine: Scenario) -> None:
    engine.deploy(race()).start(id="a")
    assert len(engine.state.messages.subscriptions) == 2

    engine.publish("stop", "a", reason="lost").publish("paid", "a").advance(HOUR)

    assert engine.path == ["start", "race", "stop", "stopped"]
    assert engine.variables() == {"id": "a", "reason": "lost"}
    assert engine.state.messages.subscriptions == {}


def test_no_message_comes_to_a_gateway_that_a_timer_left(engine: Scenario) -> None:
    engine.deploy(race()).start(id="a").advance(HOUR)

    assert engine.path == ["start", "race", "late", "expired"]
    assert engine.state.messages.subscriptions == {}
    engine.publish("paid", "a", lives=HOUR)
    assert names(engine) == ["paid"]


def test_a_gateway_takes_one_of_the_messages_in_the_buffer(engine: Scenario) -> None:
    engine.deploy(race()).publish("stop", "a", lives=HOUR).publish("paid", "a", lives=HOUR)

    engine.start(id="a")

    assert engine.path == ["start", "race", "paid", "shipped"]
    assert engine.start(id="a").path == ["start", "race", "stop", "stopped"]


# The buffer


def test_a_message_without_time_to_live_is_dropped(engine: Scenario) -> None:
    engine.deploy(waiting()).publish("paid", "a").start(id="a")

    assert engine.is_running
    assert names(engine) == []


def test_a_buffered_message_comes_to_what_waits_later(engine: Scenario) -> None:
    engine.deploy(waiting()).publish("paid", "a", lives=HOUR).advance(HOUR - SECOND)

    engine.start(id="a")

    assert engine.is_completed


def test_a_message_is_gone_when_its_time_is_over(engine: Scenario) -> None:
    engine.deploy(waiting()).publish("paid", "a", lives=HOUR)
    assert names(engine) == ["paid"]

    engine.advance(HOUR).start(id="a")

    assert engine.is_running
    assert names(engine) == []


def test_buffered_messages_come_in_the_order_of_their_publication(engine: Scenario) -> None:
    engine.deploy(waiting()).publish("paid", "a", lives=HOUR, n=1).publish("paid", "a", lives=HOUR, n=2)

    found = [engine.start(id="a").variables()["n"] for _ in range(2)]

    assert found == [1, 2]
    assert engine.start(id="a").is_running


def test_a_message_comes_to_a_process_once_and_to_each_process(engine: Scenario) -> None:
    """The instance that has waited longest gets the message, of any version of its process."""
    engine.deploy(waiting()).start(id="a")
    first = engine.instance_key
    engine.deploy(waiting(), waiting("invoice"), name="changed.bpmn").start(id="a")
    second = engine.instance_key
    engine.start("invoice", id="a")
    third = engine.instance_key

    engine.publish("paid", "a")

    assert engine.state.instances.keys() == {second}
    assert first != third


def test_a_message_id_is_unique_among_those_with_its_name_and_key_in_the_buffer(engine: Scenario) -> None:
    engine.publish("paid", "a", lives=HOUR, message_id="m")

    refused = engine.refusal(engine.publication("paid", "a", lives=HOUR, message_id="m"))

    assert refused.type is RejectionType.ALREADY_EXISTS
    assert refused.reason == "a message 'paid' with id 'm' is buffered already"
    engine.publish("paid", "b", lives=HOUR, message_id="m").publish("sold", "a", lives=HOUR, message_id="m")
    engine.advance(HOUR).publish("paid", "a", message_id="m").publish("paid", "a", message_id="m")


def test_a_tenant_has_a_bound_in_the_buffer() -> None:
    engine = Scenario(limits=EngineLimits(tenant_messages=2))
    engine.publish("paid", "a", lives=HOUR).publish("paid", "b", lives=HOUR)

    refused = engine.refusal(engine.publication("paid", "c"))

    assert refused.type is RejectionType.EXHAUSTED
    assert refused.reason == "the tenant has 2 messages in the buffer already"
    engine.execute(message_commands.PublishMessage(tenant_id="other", name="paid"))
    engine.advance(HOUR).publish("paid", "c")


# Ends


# Taken at once


def test_a_message_that_one_subscription_waits_for_goes_through_no_buffer(engine: Scenario) -> None:
    engine.deploy(waiting()).start(id="a").publish("paid", "a", amount=5)

    assert engine.is_completed
    assert engine.variables() == {"id": "a", "amount": 5}
    on_its_way = (message_events.MessagePublished, message_events.MessageSent, message_events.MessageSettled)
    assert engine.happened(*on_its_way) == []
    assert engine.state.messages.subscriptions == {}


def test_the_key_of_a_message_that_is_taken_at_once_is_given_to_nothing_else(engine: Scenario) -> None:
    engine.deploy(waiting(), guarded(is_interrupting=False)).start("order", id="a")

    published = [engine.correlate("news", "a").key for _ in range(3)]

    correlated = engine.happened(events.MessageCorrelated)
    assert published == [each.message_key for each in correlated]
    assert len({*published, *(each.key for each in correlated)}) == 6


def test_one_that_waits_on_is_the_last_to_have_the_next_message(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False)).start(id="a")
    first = engine.instance_key
    engine.start(id="a")

    answers = [engine.correlate("news", "a").process_instance_key for _ in range(4)]

    assert [first, engine.instance_key] * 2 == answers


@pytest.mark.parametrize("lives", [timedelta(), HOUR])
def test_a_message_for_two_processes_comes_to_both(engine: Scenario, lives: timedelta) -> None:
    engine.deploy(waiting(), waiting("refund")).start("order", id="a").start("refund", id="a")

    engine.publish("paid", "a", lives=lives)

    assert len(engine.happened(events.MessageCorrelated)) == 1
    assert engine.state.instances == {}


def test_an_element_that_waits_for_the_same_message_again_does_not_have_it_twice(engine: Scenario) -> None:
    twice = process("order").message_catch("first", message="paid", key="=id")
    engine.deploy(twice.message_catch("second", message="paid", key="=id").end("done")).start(id="a")

    engine.publish("paid", "a")

    assert engine.path == ["start", "first"]
    engine.publish("paid", "a")
    assert engine.path == ["start", "first", "second", "done"]


def test_an_instance_that_is_cancelled_waits_no_longer(engine: Scenario) -> None:
    engine.deploy(waiting()).start(id="a").cancel().publish("paid", "a")

    assert engine.is_terminated
    assert engine.state.messages.subscriptions == {}


# Migration


def test_a_migrated_instance_keeps_its_message_and_counts_for_its_new_process(engine: Scenario) -> None:
    engine.deploy(waiting("invoice")).deploy(waiting(key='="b"')).start(id="a").migrate(
        "order", {"wait": "wait"}
    )
    engine.deploy(waiting("new", key="=other")).migrate("new", {"wait": "wait"})
    (subscription,) = engine.state.messages.subscriptions.values()
    assert subscription.process_definition_id == "new"

    engine.publish("paid", "b")

    assert engine.is_completed


def test_migration_opens_and_closes_subscriptions_of_events_that_are_not_mapped(engine: Scenario) -> None:
    other = (
        process("other").service_task("ship", type="ship").end()
        .boundary_message("stop", on="ship", message="stop", key="=id").end()
    )  # fmt: skip
    engine.deploy(other).deploy(guarded()).start(id="a").migrate("other", {"ship": "ship"})

    engine.publish("news", "a")
    assert engine.offered == ["ship"]

    engine.publish("stop", "a")
    assert engine.is_completed


def tidings() -> ProcessBuilder:
    """A task with an event at its boundary that has another id and another correlation key."""
    return (
        process("other").service_task("ship", type="ship").end()
        .boundary_message("tidings", on="ship", message="news", key="=other").end("heard")
    )  # fmt: skip


def test_two_events_with_one_message_name_that_are_not_mapped_refuse_the_migration(engine: Scenario) -> None:
    engine.deploy(tidings()).deploy(guarded()).start(id="a", other="b")

    refusal = engine.refusal(engine.migration("other", {"ship": "ship"}))

    assert refusal.type is RejectionType.INVALID_STATE
    assert refusal.reason == (
        f"process instance {engine.instance_key} cannot be migrated: catch event 'tidings' waits for the message 'news',"
        " as catch event 'news' does already: map 'news' to it"
    )
    assert engine.publish("news", "a").offered == ["tell"]


def test_two_events_with_one_message_name_that_are_mapped_keep_the_correlation_key(engine: Scenario) -> None:
    engine.deploy(tidings()).deploy(guarded()).start(id="a", other="b")

    engine.migrate("other", {"ship": "ship", "news": "tidings"}).publish("news", "b")
    assert engine.offered == ["ship"]

    assert engine.publish("news", "a").path == ["start", "tidings", "heard"]


# Cost


def test_a_message_for_many_processes_goes_in_slices(engine: Scenario) -> None:
    processes = [waiting(f"order-{number}") for number in range(150)]
    engine.deploy(*processes)
    for number in range(150):
        engine.start(f"order-{number}", id="a")

    engine.publish("paid", "a", x=1).advance(timedelta())

    assert engine.state.instances == {}
    assert names(engine) == []
    assert engine.state.messages.subscriptions == {}


def test_a_slice_that_did_enough_leaves_the_rest_to_the_next() -> None:
    engine = Scenario(limits=EngineLimits(slice_steps=1_000))
    engine.deploy(*(waiting(f"order-{number}") for number in range(20)))
    for number in range(20):
        engine.start(f"order-{number}", id="a")

    outcome = handle(engine.state, engine.publication("paid", "a"), engine.now)
    engine.happens(outcome.events)

    (message,) = engine.state.messages.messages.values()
    assert message.postponed_at == engine.now
    assert 0 < len(message.process_ids) < 20
    engine.publish("other").expect_laws()
    assert engine.state.instances == {}


def test_a_message_that_was_published_first_comes_first_though_it_was_postponed() -> None:
    engine = Scenario(limits=EngineLimits(slice_steps=1_000))
    engine.deploy(*(waiting(f"order-{number:02}") for number in range(20)))
    for number in range(20):
        engine.start(f"order-{number:02}", id="a")
    last = engine.instance_key
    for n in (1, 2):
        engine.happens(handle(engine.state, engine.publication("paid", "a", n=n), engine.now).events)

    engine.publish("other")

    assert {each.value for each in engine.happened(events.VariableCreated) if each.name == "n"} == {"1"}
    assert engine.instance_key == last
    engine.expect_laws()


def test_all_instances_that_a_slice_needs_are_loaded_at_once() -> None:
    engine = Scenario()
    engine.deploy(*(waiting(f"order-{number}") for number in range(5)))
    keys = set()
    for number in range(5):
        engine.start(f"order-{number}", id="a")
        keys.add(engine.instance_key)
    for key in keys:
        engine.state.evict(key)

    with pytest.raises(NotLoaded) as missing:
        handle(engine.state, engine.publication("paid", "a"), engine.now)

    assert keys == {document.key for document in missing.value.documents}


def test_a_publication_costs_the_same_however_many_wait() -> None:
    """Those with another key, and those of the same process with the same key."""
    engine = Scenario()
    engine.deploy(waiting())
    for number in range(300):
        engine.start(id=str(number)).start(id="same")

    engine.publish("paid", "7").publish("paid", "same")

    kinds = [type(event) for event in engine.last_events]
    assert kinds.count(events.MessageCorrelated) == 1
    assert len(engine.state.messages.subscriptions) == 598


class Counted(dict[Key, Message]):
    """Counts how often a message is looked at."""

    looks = 0

    def __getitem__(self, key: Key) -> Message:
        self.looks += 1
        return super().__getitem__(key)


def test_the_next_message_of_the_buffer_is_found_however_many_the_process_had() -> None:
    engine = Scenario().deploy(waiting(), waiting("refund"))
    for _ in range(300):
        engine.publish("paid", "same", lives=HOUR)
    messages = engine.state.messages.messages = Counted(engine.state.messages.messages)
    for _ in range(298):
        engine.start("order", id="same")
    messages.looks = 0

    engine.start("order", id="same")

    assert engine.is_completed
    assert messages.looks < 10
    assert len(messages) == 300


def test_the_correlation_key_of_a_boundary_event_is_evaluated_outside_of_its_activity(
    engine: Scenario,
) -> None:
    task = process("order").service_task("pack", type="pack", inputs={"id": '="inner"'}).end()
    engine.deploy(task.boundary_message("paid", on="pack", message="payment", key="=id").end()).start(
        id="outer"
    )

    assert engine.publish("payment", "inner").offered == ["pack"]
    assert engine.publish("payment", "outer").is_terminated is False
    assert engine.offered == []
