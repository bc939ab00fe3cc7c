from collections.abc import Callable, Mapping
from typing import Any

import pytest

from server.bpmn.builder import ProcessBuilder, definitions, event_sub_process, process, sub_process
from server.engine import migration_commands, modification_commands
from server.engine.events import IncidentRaised, JobCreated, ProcessInstanceMigrated
from server.engine.keys import Key
from server.engine.migration_commands import MappingInstruction
from server.engine.rejection import Rejected, RejectionType
from server.store import entities
from tests.server.engine.scenario import MINUTE, Scenario

FAILING = '=assert(null, false, "never")'
CHARGE = {"charge": "pay"}


def order(**attributes: Any) -> ProcessBuilder:
    return process("order", name="Order").service_task("charge", type="charge", **attributes).end()


def payment(**attributes: Any) -> ProcessBuilder:
    """Where `charge` of the order becomes `pay`, with a task behind it."""
    builder = process("payment", name="Payment", version_tag="v2")
    return (
        builder.service_task("pay", type="pay", name="Pay", **attributes)
        .service_task("ship", type="ship")
        .end()
    )


def block(process_id: str, fork: str, join: str, *tasks: str) -> ProcessBuilder:
    """A fork into one service task each, joined again, and a task `after`."""
    first, *others = tasks
    builder = process(process_id).parallel_gateway(fork).service_task(first, type=first)
    builder.parallel_gateway(join).service_task("after", type="after").end()
    for other in others:
        builder.branch(fork).service_task(other, type=other).connect_to(join)
    return builder


def refused(engine: Scenario, process_id: str, mapping: Mapping[str, str]) -> tuple[RejectionType, str]:
    refusal = engine.refusal(engine.migration(process_id, mapping))
    return refusal.type, refusal.reason.removeprefix(
        f"process instance {engine.instance_key} cannot be migrated: "
    )


def test_a_migrated_instance_goes_on_in_the_target(engine: Scenario) -> None:
    engine.deploy(order(), payment()).start(x=1)

    engine.migrate("payment", CHARGE).complete("charge", y=2).complete("ship")

    assert engine.path == ["start", "charge", "ship", "end"]
    assert engine.is_completed
    assert engine.variables() == {"x": 1, "y": 2}


def test_an_instance_can_go_to_another_version_of_its_process(engine: Scenario) -> None:
    engine.deploy(order()).start()

    engine.deploy(order(outputs={"paid": "=true"})).migrate("order", {"charge": "charge"}).complete("charge")

    assert engine.variables() == {"paid": True}
    assert engine.rows.get(entities.ProcessInstance, engine.instance_key).process_definition_version == 2


def test_rows_tell_of_the_target(engine: Scenario) -> None:
    engine.deploy(order(), payment()).start().fail("charge")
    element, job, incident = engine.element("charge").key, engine.job("charge").key, engine.incident.key

    engine.advance(MINUTE).migrate("payment", CHARGE)

    instance = engine.rows.get(entities.ProcessInstance, engine.instance_key)
    assert (instance.process_definition_id, instance.process_definition_name) == ("payment", "Payment")
    assert (instance.process_definition_version_tag, instance.has_incident) == ("v2", True)
    row = engine.rows.get(entities.ElementInstance, element)
    assert (row.element_id, row.element_name, row.process_definition_id) == ("pay", "Pay", "payment")
    assert engine.rows.get(entities.Job, job).last_update_time == engine.now
    assert engine.rows.get(entities.Incident, incident).state is entities.IncidentState.ACTIVE
    (started,) = [row for row in engine.rows.all(entities.ElementInstance) if row.element_id == "start"]
    assert started.process_definition_id == "order"


def test_a_job_keeps_everything_but_its_element(engine: Scenario) -> None:
    engine.deploy(order(headers={"h": "1"}), payment()).start()
    (before,) = engine.activate("charge")

    engine.migrate("payment", CHARGE)

    (job,) = engine.instance.jobs.values()
    assert (job.key, job.type, job.headers, job.element_id) == (before.key, "charge", {"h": "1"}, "pay")
    assert (job.worker, job.due, job.retries) == (before.worker, before.deadline, before.retries)
    assert len(engine.happened(JobCreated)) == 1


def test_a_worker_learns_of_the_target(engine: Scenario) -> None:
    engine.deploy(order(), payment()).start().migrate("payment", CHARGE)

    (job,) = engine.activate("charge")

    assert (job.element_id, job.instance.process_definition_id, job.instance.version) == ("pay", "payment", 1)


def test_an_incident_stays_open_and_its_resolution_tries_the_target(engine: Scenario) -> None:
    engine.deploy(order(inputs={"x": FAILING}), payment(inputs={"x": "=1"})).start()

    engine.migrate("payment", CHARGE)
    key = engine.incident.key
    engine.resolve()

    assert engine.instance.incidents == {}
    assert [key] == [event.key for event in engine.happened(IncidentRaised)]
    assert engine.job("pay").element_id == "pay"


def test_a_gateway_that_found_no_way_finds_one_in_the_target(engine: Scenario) -> None:
    stuck = process("stuck").exclusive_gateway("decide").flow(condition="=x").end()
    mended = process("mended").exclusive_gateway("choose").flow(condition="=x").end()
    mended.branch("choose").flow(default=True).end("otherwise")
    engine.deploy(stuck, mended).start(x=False)

    engine.migrate("mended", {"decide": "choose"}).resolve()

    assert engine.path == ["start", "decide", "otherwise"]
    assert engine.is_completed


def test_instructions_for_what_is_not_active_are_without_effect(engine: Scenario) -> None:
    engine.deploy(order(), payment()).start()

    engine.migrate("payment", {**CHARGE, "start": "ship", "end": "start", "order": "pay"})

    assert {"payment", "pay"} == {element.element_id for element in engine.instance.elements.values()}


def test_two_elements_may_become_one(engine: Scenario) -> None:
    engine.deploy(block("source", "fork", "join", "a", "b"), payment()).start()

    engine.migrate("payment", {"a": "pay", "b": "pay"}).complete("a").complete("b")

    assert engine.activate("ship", most=2)[0].instance.process_definition_id == "payment"
    assert [job.element_id for job in engine.instance.jobs.values()] == ["ship", "ship"]


def test_an_instance_can_go_there_and_back(engine: Scenario) -> None:
    engine.deploy(order(), payment()).start()
    before = engine.instance.head

    engine.migrate("payment", CHARGE).migrate("order", {"pay": "charge"})

    assert engine.instance.head == before
    assert engine.complete("charge").is_completed


def test_other_instances_stay_where_they_are(engine: Scenario) -> None:
    engine.deploy(order(), payment()).start()
    other = engine.instance

    engine.start().migrate("payment", CHARGE)

    assert other.head.process_definition_id == "order"
    assert [event.instance.key for event in engine.happened(ProcessInstanceMigrated)] == [engine.instance_key]


# Joining gateways


def test_an_arrival_waits_at_the_gateway_of_the_target(engine: Scenario) -> None:
    engine.deploy(block("source", "f", "join", "a", "b"), block("target", "g", "meet", "c", "d")).start()
    engine.complete("a")

    engine.migrate("target", {"b": "d", "join": "meet", "a_to_join": "c_to_meet"})
    waiting = dict(engine.instance.elements[engine.instance_key].joins)
    engine.complete("b")

    assert waiting == {"c_to_meet": 1}
    assert engine.path == ["start", "f", "a", "b", "meet"]
    assert engine.complete("after").is_completed


def test_a_flow_of_the_same_id_needs_no_instruction(engine: Scenario) -> None:
    engine.deploy(block("order", "f", "join", "a", "b")).start().complete("a")
    engine.deploy(block("order", "f", "join", "a", "b", "c"))

    engine.migrate("order", {"b": "b", "join": "join"}).complete("b")

    assert engine.instance.elements[engine.instance_key].joins == {"a_to_join": 1, "b_to_join": 1}
    assert engine.cancel().is_terminated


def test_surplus_arrivals_are_kept(engine: Scenario) -> None:
    builder = process("order").parallel_gateway("fork").exclusive_gateway("merge").service_task("a", type="a")
    builder.parallel_gateway("join").end().branch("a").connect_to("merge")
    builder.branch("fork").service_task("b", type="b").connect_to("join")
    engine.deploy(builder).start().complete("a").complete("a")

    engine.migrate("order", {"a": "a", "b": "b", "join": "join"})

    root = engine.instance.elements[engine.instance_key]
    assert (root.joins, root.flows) == ({"a_to_join": 2}, 2)


def two_joins(process_id: str) -> ProcessBuilder:
    """Each of `a` and `c` waits for the `b` behind it."""
    builder = block(process_id, "fork", "left", "a", "b")
    builder.branch("fork").service_task("c", type="c").parallel_gateway("right").end("late")
    return builder.branch("b").connect_to("right")


JOIN = {"b": "b", "join": "join", "a_to_join": "a_to_join"}


@pytest.mark.parametrize(
    ("target", "mapping", "reason"),
    [
        pytest.param(
            block("target", "f", "join", "a", "b"),
            {"b": "b"},
            "there is no mapping instruction for active element 'join'",
            id="unmapped gateway",
        ),
        pytest.param(
            block("target", "f", "join", "x", "b"),
            {"b": "b", "join": "join"},
            "taken sequence flow 'a_to_join' is not mapped to one of its own into gateway 'join'",
            id="unmapped flow",
        ),
        pytest.param(
            block("target", "f", "join", "a", "b"),
            JOIN | {"a_to_join": "start_to_f"},
            "taken sequence flow 'a_to_join' is not mapped to one of its own into gateway 'join'",
            id="flow that leads elsewhere",
        ),
        pytest.param(
            process("target")
            .service_task("a", type="a")
            .parallel_gateway("join")
            .service_task("b", type="b"),
            JOIN,
            "gateway 'join' has fewer incoming sequence flows than gateway 'join', which waits for some",
            id="too few flows",
        ),
        pytest.param(
            process("target")
            .service_task("a", type="a")
            .exclusive_gateway("join")
            .service_task("b", type="b"),
            JOIN,
            "active element 'join' is a PARALLEL_GATEWAY, target element 'join' a EXCLUSIVE_GATEWAY",
            id="another kind of gateway",
        ),
    ],
)
def test_an_arrival_that_would_wait_nowhere_is_refused(
    engine: Scenario, target: ProcessBuilder, mapping: Mapping[str, str], reason: str
) -> None:
    engine.deploy(block("source", "f", "join", "a", "b"), target.end()).start().complete("a")

    assert (RejectionType.INVALID_STATE, reason) == refused(engine, "target", mapping)


def test_two_arrivals_do_not_become_one(engine: Scenario) -> None:
    engine.deploy(block("source", "f", "join", "a", "b", "c"), block("target", "f", "join", "a", "b", "c"))
    engine.start().complete("a").complete("b")

    found = refused(engine, "target", {"c": "c", "join": "join", "b_to_join": "a_to_join"})

    reason = "taken sequence flow 'b_to_join' is not mapped to one of its own into gateway 'join'"
    assert (RejectionType.INVALID_STATE, reason) == found


def test_two_gateways_that_wait_do_not_become_one(engine: Scenario) -> None:
    engine.deploy(two_joins("source"), block("target", "fork", "join", "a", "b", "c")).start()
    engine.complete("a").complete("c")

    mapping = {"left": "join", "right": "join", "a_to_left": "a_to_join", "c_to_right": "c_to_join"}
    found = refused(engine, "target", {"b": "b", **mapping})

    reason = "several gateways with taken flows are mapped to gateway 'join'"
    assert (RejectionType.INVALID_STATE, reason) == found


# Refusals


@pytest.mark.parametrize(
    ("instructions", "reason"),
    [
        pytest.param(
            [("charge", "pay"), ("charge", "ship")],
            "several mapping instructions for source element 'charge'",
            id="source twice",
        ),
        pytest.param(
            [("charge", "pay"), ("nothing", "ship")],
            "process 'order' has no source element 'nothing'",
            id="unknown source",
        ),
        pytest.param(
            [("charge", "nothing")], "process 'payment' has no target element 'nothing'", id="unknown target"
        ),
        pytest.param(
            [("charge", "pay_to_ship")],
            "process 'payment' has no target element 'pay_to_ship'",
            id="flow for an element",
        ),
        pytest.param(
            [("charge", "pay"), ("start_to_charge", "pay")],
            "process 'payment' has no target sequence flow 'pay'",
            id="element for a flow",
        ),
    ],
)
def test_instructions_have_to_make_sense(
    engine: Scenario, instructions: list[tuple[str, str]], reason: str
) -> None:
    engine.deploy(order(), payment()).start()
    target = engine.state.latest("default", "payment")
    assert target is not None

    refusal = engine.refusal(
        migration_commands.MigrateProcessInstance(
            tenant_id="default",
            process_instance_key=engine.instance_key,
            target_process_definition_key=target.key,
            mapping_instructions=tuple(MappingInstruction(*pair) for pair in instructions),
        )
    )

    assert (RejectionType.INVALID_ARGUMENT, reason) == (refusal.type, refusal.reason)


@pytest.mark.parametrize(
    ("source", "mapping", "reason"),
    [
        pytest.param(
            order(), {}, "there is no mapping instruction for active element 'charge'", id="unmapped"
        ),
        pytest.param(
            order(),
            {"charge": "end"},
            "active element 'charge' is a SERVICE_TASK, target element 'end' a END_EVENT",
            id="another type",
        ),
        pytest.param(
            process("order").node("task", "charge", outputs={"x": FAILING}).end(),
            CHARGE,
            "active element 'charge' is a TASK, which is not supported",
            id="unsupported type",
        ),
    ],
)
def test_an_active_element_needs_a_counterpart(
    engine: Scenario, source: ProcessBuilder, mapping: Mapping[str, str], reason: str
) -> None:
    engine.deploy(source, payment()).start()

    assert (RejectionType.INVALID_STATE, reason) == refused(engine, "payment", mapping)


def test_an_element_stays_in_its_flow_scope(engine: Scenario) -> None:
    inner = sub_process("pack").service_task("pay", type="pay").end()
    engine.deploy(order()).start()
    engine.deployment(process("target").embed(inner).end())

    with pytest.raises(Rejected, match="target element 'pay' is not in the flow scope") as caught:
        engine.migrate("target", {"charge": "pay"})

    assert caught.value.type is RejectionType.INVALID_STATE


def test_an_instance_that_ended_cannot_be_migrated(engine: Scenario) -> None:
    engine.deploy(order(), payment()).start().complete("charge")

    refusal = engine.refusal(engine.migration("payment", CHARGE))

    assert refusal.type is RejectionType.NOT_FOUND
    assert refusal.reason == f"no active process instance with key {engine.instance_key}"


@pytest.mark.parametrize("tenant_id", ["default", "other"])
def test_a_target_that_the_tenant_has_not_is_not_found(engine: Scenario, tenant_id: str) -> None:
    engine.tenant_id = "other"
    engine.deploy(payment())
    foreign = engine.state.latest("other", "payment")
    assert foreign is not None
    engine.tenant_id = "default"
    engine.deploy(order()).start()
    key = foreign.key if tenant_id == "other" else Key(42)

    refusal = engine.refusal(
        migration_commands.MigrateProcessInstance(
            tenant_id="default",
            process_instance_key=engine.instance_key,
            target_process_definition_key=key,
            mapping_instructions=(MappingInstruction("charge", "pay"),),
        )
    )

    assert (refusal.type, refusal.reason) == (
        RejectionType.NOT_FOUND,
        f"no process definition with key {key}",
    )


@pytest.mark.parametrize("tag", ["serviceTask", "sendTask", "scriptTask", "businessRuleTask"])
def test_an_active_task_of_a_job_worker_is_migrated(engine: Scenario, tag: str) -> None:
    source = process("source").service_task("a", type="a", tag=tag).end()
    target = process("target").service_task("b", type="b", tag=tag).service_task("c", type="c").end()
    engine.deploy(target, source).start("source")

    engine.migrate("target", {"a": "b"}).complete("a")

    assert engine.offered == ["c"]


def test_an_active_receive_task_is_migrated(engine: Scenario) -> None:
    source = process("source").receive_task("a", message="paid", key='="x"').end()
    target = (
        process("target").receive_task("b", message="other", key='="x"').service_task("c", type="c").end()
    )
    engine.deploy(target, source).start("source")

    engine.migrate("target", {"a": "b"}).publish("paid", "x")

    assert engine.offered == ["c"]


@pytest.mark.parametrize("kind", ["error", "escalation"])
@pytest.mark.parametrize("place", ["boundary", "event sub-process"])
def test_errors_and_escalations_are_caught_by_the_events_of_the_target(
    engine: Scenario, kind: str, place: str
) -> None:
    def packing(process_id: str, caught: str) -> ProcessBuilder:
        inner = sub_process("pack").start().service_task("wrap", type="wrap")
        inner = (
            inner.end_error("throw", error="e")
            if kind == "error"
            else inner.end_escalation("throw", escalation="e")
        )
        inner.declare_error("e", "E").declare_escalation("e", "E")
        if place == "event sub-process":
            scope = event_sub_process(f"help_{caught}")
            begun = (
                scope.start_error(caught, error="e")
                if kind == "error"
                else scope.start_escalation(caught, escalation="e")
            )
            return process(process_id).start().embed(inner.beside(begun.end())).end()
        outer = process(process_id).start().embed(inner).end()
        attach = outer.boundary_error if kind == "error" else outer.boundary_escalation
        return attach(caught, on="pack", **{kind: "e"}).end()

    def file(builder: ProcessBuilder) -> bytes:
        codes = {"e": "E"}
        builder.errors.clear()
        builder.escalations.clear()
        return definitions(builder, **{"errors" if kind == "error" else "escalations": codes})

    engine.deploy(file(packing("target", "new"))).deploy(file(packing("source", "old"))).start("source")

    engine.migrate("target", {"pack": "pack", "wrap": "wrap", "old": "new"}).complete("wrap")

    assert "new" in engine.path
    assert engine.is_completed


def test_expressions_and_input_mappings_of_the_target_are_not_evaluated(engine: Scenario) -> None:
    target = process("target").service_task("pay", type="=unknown", retries="=unknown", inputs={"x": FAILING})
    engine.deploy(target.end(), order()).start("order")

    engine.migrate("target", CHARGE)

    assert engine.instance.incidents == {}
    assert engine.variables(engine.element("pay").key) == {}
    assert engine.complete("charge").is_completed


def test_a_refused_migration_leaves_every_element_where_it_was(engine: Scenario) -> None:
    engine.deploy(block("source", "f", "join", "a", "b"), block("target", "f", "join", "a", "b")).start()
    before = engine.instance.head
    elements = sorted(each.element_id for each in engine.instance.elements.values())

    kind, _ = refused(engine, "target", {"a": "a"})

    assert kind is RejectionType.INVALID_STATE
    assert engine.instance.head == before
    assert sorted(each.element_id for each in engine.instance.elements.values()) == elements
    assert engine.complete("a").complete("b").complete("after").is_completed


def test_refusals_come_in_the_order_of_the_checks(engine: Scenario) -> None:
    """Each command has one fault less than the one before it."""
    source = order().boundary_timer("late", on="charge", duration="PT1H").end("expired")
    target = payment().boundary_timer("slow", on="ship", duration="PT1H").end("expired")
    engine.deploy(source, target).start()
    found = engine.state.latest("default", "payment")
    assert found is not None
    sound = (MappingInstruction("late", "slow"),)
    unknown = (MappingInstruction("nothing", "pay"), *sound)
    twice = (MappingInstruction("late", "pay"), *unknown)

    reasons = [
        engine.refusal(
            migration_commands.MigrateProcessInstance(
                tenant_id="default",
                process_instance_key=instance_key,
                target_process_definition_key=target_key,
                mapping_instructions=instructions,
            )
        ).reason
        for instance_key, target_key, instructions in (
            (Key(41), Key(42), twice),
            (engine.instance_key, Key(42), twice),
            (engine.instance_key, found.key, twice),
            (engine.instance_key, found.key, unknown),
            (engine.instance_key, found.key, sound),
        )
    ]

    prefix = f"process instance {engine.instance_key} cannot be migrated: "
    assert [reason.removeprefix(prefix) for reason in reasons] == [
        "no active process instance with key 41",
        "no process definition with key 42",
        "several mapping instructions for source element 'late'",
        "process 'order' has no source element 'nothing'",
        "there is no mapping instruction for active element 'charge'",
    ]


TRIGGERS: Mapping[str, Callable[[Scenario], object]] = {
    "message": lambda engine: engine.publish("news", "k"),
    "signal": lambda engine: engine.broadcast("news"),
    "timer": lambda engine: engine.advance(MINUTE),
    "condition": lambda engine: engine.complete("count", x=2),
}


def caught(process_id: str, event: str, trigger: str, *, is_boundary: bool) -> ProcessBuilder:
    """Two tasks, with an event on the boundary of the first or in an event sub-process."""
    builder = process(process_id).parallel_gateway("fork").service_task("count", type="count").end("counted")
    builder.branch("fork").service_task("charge", type="charge").end("done")
    host = builder if is_boundary else event_sub_process("help")
    attributes: dict[str, Any] = {
        "message": {"message": "news", "key": '="k"'},
        "signal": {"signal": "news"},
        "timer": {"duration": "PT1M"},
        "condition": {"condition": "=x > 1"},
    }[trigger]
    if is_boundary:
        return getattr(host, f"boundary_{trigger}")(event, on="charge", **attributes).end(f"{event}_end")
    return builder.beside(getattr(host, f"start_{trigger}")(event, is_interrupting=False, **attributes).end())


@pytest.mark.parametrize("is_boundary", [True, False], ids=["boundary", "event sub-process"])
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_mapped_event_keeps_its_subscription_and_goes_on_in_the_target(
    engine: Scenario, trigger: str, *, is_boundary: bool
) -> None:
    engine.deploy(caught("target", "new", trigger, is_boundary=is_boundary))
    engine.deploy(caught("source", "old", trigger, is_boundary=is_boundary)).start(x=0)
    (before,) = engine.instance.subscriptions

    mapping = {"count": "count", "charge": "charge", "old": "new"}
    engine.migrate("target", mapping if is_boundary else {**mapping, "help": "help"})

    (after,) = engine.instance.subscriptions.values()
    assert (after.key, after.element_id) == (before, "new")
    TRIGGERS[trigger](engine)
    assert "new" in engine.path


def interrupted(process_id: str, prefix: str = "", **inputs: str) -> ProcessBuilder:
    """A sub-process with an event sub-process that ends the rest of it after a minute, and a task beside it."""
    help_ = event_sub_process(f"{prefix}help").start_timer(f"{prefix}late", duration="PT1M")
    help_.service_task(f"{prefix}mend", type="mend").end()
    order = sub_process(f"{prefix}order").start().service_task(f"{prefix}charge", type="charge").end()
    builder = process(process_id).parallel_gateway("fork").embed(order.beside(help_, inputs=inputs)).end()
    return builder.branch("fork").service_task(f"{prefix}count", type="count").end()


def test_a_scope_that_was_interrupted_before_ends_in_the_target(engine: Scenario) -> None:
    engine.deploy(interrupted("source"), interrupted("target", "new_")).start().advance(MINUTE)
    engine.migrate("target", {each: f"new_{each}" for each in ("order", "help", "mend", "count")})

    engine.modify(modification_commands.TerminateInstruction(element_id="new_order"))

    assert engine.offered == ["new_count"]
    assert engine.complete("count").is_completed


def test_an_event_sub_process_that_has_yet_to_begin_is_not_migrated(engine: Scenario) -> None:
    source, target = (interrupted("source", x=FAILING), interrupted("target", "new_", x=FAILING))
    engine.deploy(source, target).start().advance(MINUTE)

    refusal = refused(engine, "target", {each: f"new_{each}" for each in ("order", "help", "count")})

    assert refusal == (RejectionType.INVALID_STATE, "active element 'help' has caught an event")
