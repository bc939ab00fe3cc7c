"""A command does so much at a time; the rest of its work goes on in later turns."""

from typing import Any

import pytest
from hypothesis import given

from server.bpmn.builder import ProcessBuilder
from server.bpmn.builder import process as builder_of
from server.engine import events, process
from server.engine.documents import unpack
from server.engine.incidents import ErrorType
from server.engine.job_commands import CompleteJob
from server.engine.limits import DEFAULT_LIMITS, ENTERING_STEPS, EngineLimits
from server.engine.migration_commands import MappingInstruction, MigrateProcessInstance
from server.engine.process_instance_commands import (
    CancelProcessInstance,
    ContinueProcessInstance,
    CreateProcessInstance,
    SetVariables,
)
from server.engine.rejection import Rejected, RejectionType
from server.partition.due import Due
from tests.server.engine.laws import expect_laws
from tests.server.engine.player import Player
from tests.server.engine.scenario import Scenario
from tests.server.engine.stored import pages_of
from tests.server.engine.strategies import Block, Move, blocks, bounded, histories

SLICE = 3
FEW = EngineLimits(slice_steps=SLICE * ENTERING_STEPS)
# A list of ten thousand, which costs more steps than that.
COSTLY = "=count(for i in 1..10000 return i)"


class Sliced(Scenario):
    """Goes on with what was left when it is told to."""

    def __init__(self) -> None:
        super().__init__(limits=FEW)

    def _go_on(self) -> None:
        pass

    def go_on(self) -> list[events.Event]:
        outcome = process(self.state, ContinueProcessInstance("default", self.instance_key), self.now)
        self.happens(outcome.events)
        return outcome.events


def fan_out(jobs: int) -> ProcessBuilder:
    builder = builder_of("order").parallel_gateway("split")
    for number in range(jobs):
        builder.branch("split").service_task(f"job{number}", type="work").end()
    return builder


def entered(happened: list[Any]) -> int:
    return sum(isinstance(event, events.ElementActivating) for event in happened)


def waiting(jobs: int) -> Sliced:
    """Waits for its jobs; from now on slices are small."""
    engine = Sliced()
    engine.state.limits = DEFAULT_LIMITS
    engine.deploy(fan_out(jobs)).start()
    engine.state.limits = FEW
    return engine


def test_a_start_is_answered_after_its_first_slice() -> None:
    engine = Sliced().deploy(fan_out(10)).start()

    assert entered(engine.last_events) == SLICE
    assert isinstance(engine.last_events[-1], events.WorkPostponed)


def test_each_turn_does_one_slice_until_nothing_is_left() -> None:
    engine = Sliced().deploy(fan_out(10)).start()
    slices = []

    while engine.instance.work:
        slices.append(entered(engine.go_on()))

    assert slices == [3, 3, 3]
    assert len(engine.instance.jobs) == 10


def test_a_process_instance_that_ended_or_has_no_work_left_is_left_alone() -> None:
    engine = Sliced().deploy(builder_of("order").end()).start()

    assert engine.is_completed
    assert engine.go_on() == []


def test_a_job_can_be_completed_between_two_slices() -> None:
    engine = Sliced().deploy(fan_out(10)).start()
    first = engine.job("work").key

    engine.execute(CompleteJob("default", first))
    while engine.instance.work:
        engine.go_on()

    assert len(engine.instance.jobs) == 9


def test_a_cancellation_goes_on_in_slices_and_ends_the_instance() -> None:
    engine = Scenario(limits=FEW).deploy(fan_out(10)).start()

    engine.cancel()

    terminated = engine.happened(events.ElementTerminated)
    assert len(terminated) == 11
    assert terminated[-1].key == engine.instance_key


def test_nothing_new_begins_in_a_process_instance_that_is_being_cancelled() -> None:
    engine = waiting(10)
    engine.cancel()

    while engine.is_running:
        assert entered(engine.go_on()) == 0

    assert engine.is_terminated


def test_a_job_completed_during_a_cancellation_does_not_keep_it_from_ending() -> None:
    engine = waiting(10)
    engine.cancel()

    for key in list(engine.instance.jobs):
        engine.execute(CompleteJob("default", key))
    engine.go_on()

    assert engine.is_terminated


def test_no_variable_is_set_at_what_is_being_cancelled() -> None:
    engine = waiting(10)
    engine.cancel()
    command = SetVariables(
        tenant_id="default",
        process_instance_key=engine.instance_key,
        element_instance_key=engine.instance_key,
        variables={"x": "1"},
    )

    assert engine.refusal(command).type is RejectionType.NOT_FOUND


def test_a_second_cancellation_is_refused() -> None:
    engine = waiting(10)
    engine.cancel()

    rejected = engine.refusal(CancelProcessInstance("default", engine.instance_key))

    assert rejected.type is RejectionType.INVALID_STATE


def test_a_process_instance_with_work_left_is_not_migrated() -> None:
    engine = Sliced().deploy(fan_out(10)).start()
    command = MigrateProcessInstance(
        tenant_id="default",
        process_instance_key=engine.instance_key,
        target_process_definition_key=engine.instance.head.process_definition_key,
        mapping_instructions=(MappingInstruction("job0", "job0"),),
    )

    rejected = engine.refusal(command)

    assert rejected.type is RejectionType.INVALID_STATE
    assert "is still executing: migrate it when it waits" in rejected.reason


def test_the_work_that_is_left_is_in_the_document_and_due_after_a_recovery() -> None:
    engine = Sliced().deploy(fan_out(10)).start()

    recovered = unpack(pages_of(engine.instance))
    due = Due()
    due.adopt(recovered)

    assert recovered == engine.instance
    assert list(due.take(engine.now, 10)) == [ContinueProcessInstance("default", engine.instance_key)]


def test_expressions_shorten_the_slice() -> None:
    engine = Sliced()
    engine.state.limits = EngineLimits(slice_steps=10_000)
    builder = builder_of("order")
    for number in range(3):
        builder.node("task", f"task{number}", inputs={"n": COSTLY})

    engine.deploy(builder.end()).start()

    # The start event and the first task.
    assert entered(engine.last_events) == 2


def test_the_expressions_of_one_element_have_one_budget() -> None:
    inputs = {f"n{number}": COSTLY for number in range(10)}
    engine = Scenario(limits=EngineLimits(element_steps=40_000))

    engine.deploy(builder_of("order").node("task", "a", inputs=inputs).end()).start()

    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    assert "together take too many steps" in engine.incident.message


def test_patterns_that_backtrack_for_ever_are_one_incident() -> None:
    hostile = '=count(for i in 1..200 return matches("' + "a" * 30 + 'b","(a|aa)+$"))'
    engine = Scenario().deploy(builder_of("order").node("task", "a", inputs={"n": hostile}).end())

    engine.start()

    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR
    assert "to match" in engine.incident.message


def test_decoding_large_variables_is_part_of_the_budget() -> None:
    inputs = {f"n{number}": "=count(large)" for number in range(100)}
    engine = Scenario(limits=EngineLimits(element_steps=100_000))
    engine.deploy(builder_of("order").node("task", "a", inputs=inputs).end())

    engine.start(large=["x" * 100] * 1000)

    assert engine.incident.error_type is ErrorType.IO_MAPPING_ERROR


@bounded
@given(blocks, histories)
def test_slices_change_nothing_of_the_laws(block: Block, history: list[Move]) -> None:
    player = Player(block, Scenario(limits=EngineLimits(slice_steps=1))).play(history)

    expect_laws(player.scenario.state, player.scenario.events, player.scenario.rows)
    player.finish()
    assert player.scenario.state.instances == {}


def test_a_start_that_is_refused_leaves_no_work() -> None:
    engine = Sliced()

    with pytest.raises(Rejected):
        engine.execute(CreateProcessInstance(tenant_id="default", process_definition_id="none"))

    assert engine.state.instances == {}
