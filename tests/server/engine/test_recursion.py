"""Processes that call themselves: their bound, and the end of everything below an instance that ends."""

from dataclasses import replace
from itertools import islice

import pytest

from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.engine import process as handle
from server.engine.deployment_commands import DeployResources
from server.engine.events import ElementActivating, ProcessInstanceCreated
from server.engine.incidents import ErrorType
from server.engine.job_commands import CompleteJob
from server.engine.limits import ENTERING_STEPS, EngineLimits
from server.engine.process_instance_commands import CancelProcessInstance, ContinueProcessInstance
from server.engine.rejection import Rejected, RejectionType
from server.engine.timer_commands import TriggerTimer
from tests.server.engine.laws import recovered
from tests.server.engine.paged import PagedScenario
from tests.server.engine.scenario import Scenario, resource

SLICE = 20 * ENTERING_STEPS


class InSlices(PagedScenario):
    """Continues postponed work only in `go_on`, so that a story can look between two slices."""

    def __init__(self, whole_records: int = 0) -> None:
        super().__init__(whole_records)
        self.state.limits = EngineLimits(whole_records=whole_records, slice_steps=SLICE)

    def _go_on(self) -> None:
        pass

    def bound(self, called_instances: int) -> None:
        self.state.limits = replace(self.state.limits, called_instances=called_instances)

    def kill_owner(self) -> None:
        """Forget everything, and read the documents."""
        limits, self.state = self.state.limits, recovered(self.state)
        self.state.limits = limits
        self.evict_and_bring_back()

    def go_on(self) -> None:
        """Continue every process instance that has postponed work."""
        for key in [key for key, each in self.state.instances.items() if each.work]:
            command = ContinueProcessInstance(self.tenant_id, key)
            self.happens(handle(self.state, command, self.now, is_due=True).events)
        self.evict_and_bring_back()

    def go_on_to_the_end(self) -> None:
        while any(each.work for each in self.state.instances.values()):
            self.go_on()


def doubling() -> ProcessBuilder:
    """Calls itself twice, through an expression, so that no check of the model can see it."""
    builder = process("P").start().parallel_gateway("fork")
    builder.call_activity("left", process='="P"').end()
    return builder.branch("fork").call_activity("right", process='="P"').end()


@pytest.fixture(params=[0, 256], ids=["paged", "whole"])
def engine(request: pytest.FixtureRequest) -> InSlices:
    return InSlices(request.param)


def calling(builder: ProcessBuilder) -> ProcessBuilder:
    return builder.call_activity("call", process='="P"').end()


def grown(engine: InSlices, *processes: ProcessBuilder) -> InSlices:
    """The first of the processes, with more than a hundred instances below it that continue by themselves."""
    engine.deploy(*processes, doubling()).start()
    while len(engine.state.instances) < 100:
        engine.go_on()
    return engine


def interrupted(engine: InSlices) -> int:
    """The number of events before the timer `late` is due."""
    before = len(engine.events)
    timer = next(each for each in engine.instance.subscriptions.values() if each.element_id == "late")
    engine.now = timer.due
    engine.carry_out(TriggerTimer(engine.tenant_id, timer.key, timer.due))
    return before


def interruption() -> ProcessBuilder:
    """Calls in a sub-process within a sub-process, with a timer that interrupts both."""
    inner = calling(sub_process("inner").start())
    builder = process("order").start().embed(sub_process("outer").start().embed(inner).end()).end()
    return builder.boundary_timer("late", on="outer", duration="PT1H").service_task("ship", type="ship").end()


def begun(engine: Scenario, before: int) -> list[str]:
    """What began since this event: process ids of process instances, and element ids."""
    found = islice(engine.events, before, None)
    return [
        each.instance.process_definition_id if isinstance(each, ProcessInstanceCreated) else each.element_id
        for each in found
        if isinstance(each, ProcessInstanceCreated | ElementActivating)
    ]


# Ends


def test_nothing_begins_in_a_tree_after_the_cancellation_of_its_root(engine: InSlices) -> None:
    grown(engine, doubling())

    engine.execute(CancelProcessInstance(engine.tenant_id, engine.instance_key))
    before = len(engine.events)
    engine.go_on_to_the_end()

    assert begun(engine, before) == []
    assert engine.state.instances == {}
    engine.expect_laws()


def test_nothing_begins_below_a_sub_process_that_a_timer_interrupted(engine: InSlices) -> None:
    grown(engine, interruption())

    before = interrupted(engine)
    engine.go_on_to_the_end()

    assert begun(engine, before) == ["late", "ship"]
    assert list(engine.state.instances) == [engine.instance_key]
    engine.expect_laws()


def test_nothing_begins_below_a_process_with_a_terminate_end_event(engine: InSlices) -> None:
    builder = calling(process("order").start().parallel_gateway("fork"))
    builder = builder.branch("fork").service_task("stop", type="stop").end_terminate("stopped")
    grown(engine, builder)

    before = len(engine.events)
    engine.complete("stop")
    engine.go_on_to_the_end()

    assert begun(engine, before) == ["stopped"]
    assert engine.state.instances == {}
    engine.expect_laws()


def test_nothing_begins_below_the_other_items_of_a_multi_instance_activity_that_is_complete(
    engine: InSlices,
) -> None:
    item = process("item").start().exclusive_gateway("which").flow(condition="=loopCounter = 1")
    item = calling(item.service_task("pick", type="pick").end().branch("which").flow(default=True))
    builder = process("order").start().call_activity("call", process="item")
    builder.multi_instance("=[1, 2, 3]", until="=true").service_task("ship", type="ship").end()
    grown(engine, builder, item)

    before = len(engine.events)
    engine.complete("pick")
    engine.go_on_to_the_end()

    assert begun(engine, before) == ["end", "ship"]
    assert list(engine.state.instances) == [engine.instance_key]
    engine.expect_laws()


def test_a_tree_whose_owner_is_killed_during_its_termination_ends_as_well(engine: InSlices) -> None:
    grown(engine, doubling())
    engine.execute(CancelProcessInstance(engine.tenant_id, engine.instance_key))
    engine.go_on()
    before = len(engine.events)

    engine.kill_owner()
    engine.go_on_to_the_end()

    assert begun(engine, before) == []
    assert engine.state.instances == {}


def test_the_postponed_work_of_a_called_off_instance_is_not_continued(engine: InSlices) -> None:
    grown(engine, doubling())
    working = [key for key, each in engine.state.instances.items() if each.work]
    engine.execute(CancelProcessInstance(engine.tenant_id, engine.instance_key))
    waiting = [key for key in working if engine.state.calls.waits_for_termination(key)]
    for key in waiting:
        engine.state.evict(key)

    outcomes = [
        handle(engine.state, ContinueProcessInstance(engine.tenant_id, key), engine.now) for key in waiting
    ]

    assert len(waiting) > 10
    assert [outcome.events for outcome in outcomes] == [[]] * len(waiting)


def test_a_job_of_a_called_off_instance_completes_and_leads_nowhere(engine: InSlices) -> None:
    pay = process("pay").start().service_task("charge", type="charge").service_task("ship", type="ship").end()
    builder = (
        process("order")
        .start()
        .call_activity("call", process="pay")
        .multi_instance("=for i in 1..100 return i")
    )
    engine.deploy(builder.end(), pay).start()
    engine.go_on_to_the_end()
    job_key = engine.activate("charge", most=100)[-1].key
    engine.execute(CancelProcessInstance(engine.tenant_id, engine.instance_key))
    before = len(engine.events)

    engine.execute(CompleteJob(engine.tenant_id, job_key))
    engine.go_on_to_the_end()

    assert begun(engine, before) == []
    assert engine.state.instances == {}
    engine.expect_laws()


# The bound


def test_a_root_process_instance_has_a_bound_of_called_ones(engine: InSlices) -> None:
    engine.bound(50)
    engine.deploy(doubling()).start()

    engine.go_on_to_the_end()

    assert len(engine.state.instances) == 51
    incidents = [each for instance in engine.state.instances.values() for each in instance.incidents.values()]
    assert {each.error_type for each in incidents} == {ErrorType.CALLED_ELEMENT_ERROR}
    engine.expect_laws()


def calls_of(items: str) -> tuple[ProcessBuilder, ProcessBuilder]:
    builder = process("order").start().call_activity("call", process="pay").multi_instance(items)
    return builder.end(), process("pay").start().service_task("charge", type="charge").end()


@pytest.mark.parametrize("is_higher", [True, False], ids=["a higher bound", "the end of another"])
def test_a_call_beyond_the_bound_succeeds_later(engine: InSlices, *, is_higher: bool) -> None:
    engine.bound(2)
    engine.deploy(*calls_of("=for i in 1..3 return i")).start()
    assert "at most 2 active called process instances below root process instance" in engine.incident.message

    if is_higher:
        engine.bound(3)
    else:
        engine.complete("charge")
    engine.resolve()

    assert engine.state.calls.sizes == {engine.instance_key: 3 if is_higher else 2}
    assert engine.instance.incidents == {}
    engine.expect_laws()


def test_the_bound_counts_each_root_process_instance_on_its_own(engine: InSlices) -> None:
    engine.bound(2)
    engine.deploy(*calls_of("=for i in 1..2 return i"))

    engine.start("order")
    engine.start("order")

    assert list(engine.state.calls.sizes.values()) == [2, 2]
    assert all(not each.incidents for each in engine.state.instances.values())
    engine.expect_laws()


def test_a_bound_of_zero_is_none(engine: InSlices) -> None:
    engine.bound(0)

    engine.deploy(*calls_of("=for i in 1..30 return i")).start()
    engine.go_on_to_the_end()

    assert len(engine.state.instances) == 31
    engine.expect_laws()


# Endless recursion that the models show


def twice(process_id: str = "P", calls: str = "P", **tag: str) -> ProcessBuilder:
    """Calls a process twice, without a way to end."""
    builder = process(process_id, **tag).start().parallel_gateway("fork")
    builder.call_activity("left", process=calls).end()
    return builder.branch("fork").call_activity("right", process=calls).end()


def passing(process_id: str, calls: str, **binding: str) -> ProcessBuilder:
    """Calls a process after a task that does not wait."""
    builder = process(process_id).start().task("pass")
    return builder.call_activity("call", process=calls, **binding).end()  # type: ignore[arg-type]


def calling_itself() -> ProcessBuilder:
    return sub_process("sub").start().call_activity("within", process="P").end()


def refusal_of(engine: Scenario, *processes: ProcessBuilder) -> Rejected:
    resources = tuple(resource(each, "process.bpmn") for each in processes)
    return engine.refusal(DeployResources(engine.tenant_id, resources))


def choosing(*, calls: str) -> ProcessBuilder:
    """Calls itself, and by default this process."""
    builder = process("P").start().exclusive_gateway("which")
    builder.flow(condition="=deep").call_activity("itself", process="P").end()
    return builder.branch("which").flow(default=True).call_activity("other", process=calls).end()


@pytest.mark.parametrize(
    ("processes", "path"),
    [
        pytest.param([twice()], "P > left > P", id="itself"),
        pytest.param([passing("P", "Q"), passing("Q", "P")], "P > call > Q > call > P", id="each other"),
        pytest.param([passing("O", "P"), twice()], "O > call > P > left > P", id="called by another"),
        pytest.param([choosing(calls="P")], "P > itself > P", id="with either choice"),
        pytest.param(
            [process("P").start().embed(calling_itself()).end()], "P > within > P", id="in a sub-process"
        ),
        pytest.param([passing("P", "P", binding="deployment")], "P > call > P", id="the same deployment"),
    ],
)
def test_a_process_that_calls_itself_for_ever_is_refused_with_the_path(
    processes: list[ProcessBuilder], path: str
) -> None:
    refusal = refusal_of(Scenario(), *processes)

    assert refusal.type is RejectionType.INVALID_ARGUMENT
    assert refusal.reason.endswith(f"without a wait state and without an end: {path}")


def test_the_latest_deployed_versions_belong_to_the_path() -> None:
    engine = Scenario().deploy(passing("Q", "P"))

    refusal = refusal_of(engine, passing("P", "Q"))

    assert refusal.reason.endswith("P > call > Q > call > P")


@pytest.mark.parametrize(
    "builder",
    [
        pytest.param(choosing(calls="Q"), id="a choice"),
        pytest.param(
            process("P").start().service_task("work", type="t").call_activity("call", process="P").end(),
            id="a wait state",
        ),
        pytest.param(
            process("P").start().call_activity("call", process="P").multi_instance("=items").end(),
            id="a collection",
        ),
        pytest.param(
            process("P")
            .start()
            .call_activity("call", process="P")
            .execution_listener("start", type="t")
            .end(),
            id="a listener",
        ),
        pytest.param(passing("P", '="P"'), id="an expression"),
        pytest.param(twice().branch("fork").end_terminate("stop"), id="a terminate end event"),
        pytest.param(passing("P", "unknown"), id="an unknown process"),
    ],
)
def test_a_recursion_that_may_end_or_wait_is_deployed(builder: ProcessBuilder) -> None:
    engine = Scenario().deploy(process("Q").start().end())

    engine.deploy(builder)

    assert engine.state.latest(engine.tenant_id, "P") is not None
