"""Message subscriptions as searches find them: states, and the messages that were correlated."""

from datetime import timedelta

import pytest

from server.bpmn.builder import ProcessBuilder, event_sub_process, process
from server.engine import deployment_commands
from server.engine.keys import Key
from server.store.entities import (
    CorrelatedMessageSubscription,
    MessageSubscription,
    MessageSubscriptionState,
    MessageSubscriptionType,
)
from tests.server.engine.scenario import Scenario

CREATED, CORRELATED = MessageSubscriptionState.CREATED, MessageSubscriptionState.CORRELATED
DELETED, MIGRATED = MessageSubscriptionState.DELETED, MessageSubscriptionState.MIGRATED


def work() -> ProcessBuilder:
    return process("order").service_task("work", type="work").end()


def states(engine: Scenario) -> dict[str, MessageSubscriptionState]:
    """By the ids of the events."""
    return {row.element_id: row.message_subscription_state for row in engine.rows.all(MessageSubscription)}


def correlated(engine: Scenario) -> list[CorrelatedMessageSubscription]:
    return engine.rows.all(CorrelatedMessageSubscription)


def guarded(*, is_interrupting: bool, process_id: str = "order") -> ProcessBuilder:
    return (
        process(process_id)
        .service_task("work", type="work")
        .end()
        .boundary_message("news", on="work", message="news", key="=id", is_interrupting=is_interrupting)
        .end()
    )


@pytest.mark.parametrize(
    ("model", "host"),
    [
        pytest.param(process("order").message_catch("on", message="go", key="=id").end(), "on", id="event"),
        pytest.param(process("order").receive_task("on", message="go", key="=id").end(), "on", id="task"),
        pytest.param(
            work().boundary_message("on", on="work", message="go", key="=id").end(), "work", id="boundary"
        ),
        pytest.param(
            process("order")
            .event_based_gateway("choose")
            .message_catch("on", message="go", key="=id")
            .end()
            .branch("choose")
            .timer_catch("late", duration="PT1H")
            .end(),
            "choose",
            id="event-based gateway",
        ),
        pytest.param(
            work().beside(event_sub_process("sub").start_message("on", message="go", key="=id").end()),
            "order",
            id="event sub-process",
        ),
    ],
)
def test_an_element_instance_that_waits_has_a_subscription_until_its_message_comes(
    engine: Scenario, model: ProcessBuilder, host: str
) -> None:
    engine.deploy(model).start(id="a-1")

    (row,) = engine.rows.all(MessageSubscription)
    since = engine.now
    assert (row.element_id, row.message_name, row.correlation_key) == ("on", "go", "a-1")
    assert (row.process_instance_key, row.root_process_instance_key) == (engine.instance_key,) * 2
    assert row.element_instance_key == engine.element(host).key
    assert (row.message_subscription_state, row.is_open, row.last_updated_date) == (CREATED, True, since)
    assert row.message_subscription_type is MessageSubscriptionType.PROCESS_EVENT

    engine.advance(timedelta(minutes=1)).publish("go", "a-1")
    assert (row.message_subscription_state, row.is_open) == (CORRELATED, False)
    assert row.last_updated_date == since + timedelta(minutes=1)
    (caught,) = correlated(engine)
    assert (caught.subscription_key, caught.element_instance_key) == (
        row.message_subscription_key,
        row.element_instance_key,
    )
    assert (caught.message_name, caught.correlation_key, caught.element_id) == ("go", "a-1", "on")
    assert (caught.process_instance_key, caught.partition_id) == (row.process_instance_key, 1)
    assert caught.correlation_time == row.last_updated_date


def test_a_subscription_that_gets_no_message_is_deleted(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=True)).start(id="a").complete("work")

    assert states(engine) == {"news": DELETED}
    assert correlated(engine) == []


def test_of_the_events_behind_a_gateway_the_others_are_deleted(engine: Scenario) -> None:
    model = process("order").event_based_gateway("choose")
    model.message_catch("paid", message="paid", key="=id").end().branch("choose")
    engine.deploy(model.message_catch("lost", message="lost", key="=id").end()).start(id="a")

    engine.publish("paid", "a")

    assert states(engine) == {"paid": CORRELATED, "lost": DELETED}


def test_an_event_that_does_not_interrupt_gets_messages_until_its_scope_ends(engine: Scenario) -> None:
    engine.deploy(guarded(is_interrupting=False)).start(id="a").publish("news", "a").publish("news", "a")

    (row,) = engine.rows.all(MessageSubscription)
    assert (row.message_subscription_state, row.is_open) == (CORRELATED, True)
    first, second = correlated(engine)
    assert first.message_key < second.message_key
    assert first.subscription_key == second.subscription_key == row.message_subscription_key

    engine.complete("work")
    assert (row.message_subscription_state, row.is_open) == (DELETED, False)


def test_a_message_that_comes_too_late_is_not_correlated(engine: Scenario) -> None:
    model = process("order").message_catch("wait", message="paid", key="=id").end()
    engine.deploy(model).start(id="a").publish("paid", "a", lives=timedelta(hours=1)).publish("paid", "a")

    assert len(correlated(engine)) == 1


def test_a_migrated_subscription_has_the_ids_of_the_target(engine: Scenario) -> None:
    target = (
        process("later", name="Later")
        .service_task("labour", type="work")
        .end()
        .boundary_message("tidings", on="labour", message="news", key="=id")
        .end()
    )
    engine.deploy(guarded(is_interrupting=False)).start(id="a").deploy(target)

    engine.migrate("later", {"work": "labour", "news": "tidings"})

    (row,) = engine.rows.all(MessageSubscription)
    assert (row.message_subscription_state, row.is_open, row.element_id) == (MIGRATED, True, "tidings")
    definition = engine.state.latest(engine.tenant_id, "later")
    assert definition is not None
    assert (row.process_definition_key, row.process_definition_id) == (definition.key, "later")
    assert (row.process_definition_name, row.process_definition_version) == ("Later", 1)

    engine.publish("news", "a")
    assert (row.message_subscription_state, row.is_open) == (CORRELATED, False)
    assert correlated(engine)[0].process_definition_id == "later"


def test_a_migration_deletes_what_is_not_mapped_and_creates_what_is_new(engine: Scenario) -> None:
    target = work().boundary_message("other", on="work", message="other", key="=id").end()
    engine.deploy(guarded(is_interrupting=True)).start(id="a").deploy(target)

    engine.migrate("order", {"work": "work"})

    assert states(engine) == {"news": DELETED, "other": CREATED}


def test_a_called_process_instance_has_the_caller_as_root(engine: Scenario) -> None:
    called = process("called").message_catch("wait", message="paid", key='="a"').end()
    engine.deploy(called).deploy(process("caller").call_activity("call", process="called").end()).start()

    engine.publish("paid", "a")

    (row,), (caught,) = engine.rows.all(MessageSubscription), correlated(engine)
    assert row.root_process_instance_key == caught.root_process_instance_key == engine.instance_key
    assert row.process_instance_key == caught.process_instance_key != engine.instance_key


def test_properties_of_the_element_are_shown(engine: Scenario) -> None:
    xml = process("order").message_catch("wait", message="paid", key="=id").end().to_xml().decode()
    properties = (
        '<zeebe:properties><zeebe:property name="io.camunda.tool:name" value="pay"/>'
        '<zeebe:property name="inbound.type" value="webhook"/></zeebe:properties>'
    )
    catching = '<bpmn:intermediateCatchEvent id="wait">'
    assert catching in xml
    extended = f"{catching}<bpmn:extensionElements>{properties}</bpmn:extensionElements>"
    engine.deploy(xml.replace(catching, extended).encode()).start(id="a")

    (row,) = engine.rows.all(MessageSubscription)
    assert row.extension_properties == {"io.camunda.tool:name": "pay", "inbound.type": "webhook"}
    assert (row.tool_name, row.inbound_connector_type) == ("pay", "webhook")


# Start events


def begun(message: str = "begin") -> ProcessBuilder:
    return process("order").start_message("begin", message=message).service_task("work", type="work").end()


def test_a_start_event_waits_from_its_deployment_until_a_later_version_comes(engine: Scenario) -> None:
    engine.deploy(begun())

    (row,) = engine.rows.all(MessageSubscription)
    assert row.message_subscription_type is MessageSubscriptionType.START_EVENT
    assert (row.process_instance_key, row.element_instance_key, row.correlation_key) == (None, None, None)
    assert (row.element_id, row.message_name, row.process_definition_version) == ("begin", "begin", 1)
    assert row.message_subscription_state == CREATED

    engine.deploy(begun("other"))
    first, second = engine.rows.all(MessageSubscription)
    assert (first.message_subscription_state, first.is_open) == (DELETED, False)
    assert (second.message_subscription_state, second.message_name) == (CREATED, "other")


@pytest.mark.parametrize(("key", "shown"), [("", None), ("a", "a")])
def test_a_message_that_begins_a_process_instance_is_correlated(
    engine: Scenario, key: str, shown: str | None
) -> None:
    engine.deploy(begun()).publish("begin", key)

    (row,), (caught,) = engine.rows.all(MessageSubscription), correlated(engine)
    assert (caught.subscription_key, caught.element_id) == (row.message_subscription_key, "begin")
    assert (caught.element_instance_key, caught.correlation_key) == (None, shown)
    assert caught.process_instance_key in engine.state.instances
    assert row.message_subscription_state == CREATED


def test_a_deleted_version_waits_no_more_and_the_one_before_waits_again(engine: Scenario) -> None:
    engine.deploy(begun()).deploy(begun("other"))
    first, second = engine.rows.all(MessageSubscription)

    def delete(key: Key) -> None:
        engine.execute(deployment_commands.DeleteResource(engine.tenant_id, key))

    delete(second.process_definition_key)
    assert (first.message_subscription_state, first.is_open) == (CREATED, True)
    assert (second.message_subscription_state, second.is_open) == (DELETED, False)

    delete(first.process_definition_key)
    assert (first.message_subscription_state, first.is_open) == (DELETED, False)


def test_deleting_an_earlier_version_changes_no_subscription(engine: Scenario) -> None:
    engine.deploy(begun()).deploy(begun("other"))
    first, second = engine.rows.all(MessageSubscription)

    engine.execute(deployment_commands.DeleteResource(engine.tenant_id, first.process_definition_key))

    assert (first.message_subscription_state, second.message_subscription_state) == (DELETED, CREATED)
