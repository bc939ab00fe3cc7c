from contextlib import suppress
from itertools import pairwise

from hypothesis import given

from server.bpmn.reader import read
from server.engine import agenda, events
from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.handlers import HANDLERS
from server.engine.keys import Key
from server.engine.rejection import Rejected
from server.engine.step import Step
from server.lint.linter import lint, refusals
from tests.server.engine.laws import expect_laws
from tests.server.engine.player import Player, photograph
from tests.server.engine.scenario import Scenario
from tests.server.engine.strategies import (
    Block,
    Move,
    blocks,
    bounded,
    histories,
    poisoned_histories,
    written,
)

CREATING = (
    events.DeploymentCreated,
    events.ProcessDefinitionDeployed,
    events.ElementActivating,
    events.VariableCreated,
    events.JobCreated,
    events.IncidentRaised,
)


@bounded
@given(blocks)
def test_the_processes_of_these_properties_could_be_deployed(block: Block) -> None:
    assert refusals(lint(read(written(block).to_xml()))) == ()


@bounded
@given(blocks, histories)
def test_replaying_the_events_rebuilds_the_state(block: Block, history: list[Move]) -> None:
    """The same for the documents and for the rows."""
    played = Player(block).play(history).scenario

    expect_laws(played.state, played.events, played.rows)


@bounded
@given(blocks, histories)
def test_every_instance_can_be_finished(block: Block, history: list[Move]) -> None:
    player = Player(block).play(history)

    player.finish()

    state = player.scenario.state
    assert (state.instances, state.offers, state.owners) == ({}, {}, {})
    expect_laws(state, player.scenario.events, player.scenario.rows)


class TakingBack(Scenario):
    """Handles each command twice: the first time everything is taken back."""

    def execute(self, command: Command) -> Answer:
        before = photograph(self.state)
        step = Step(self.state, self.now)
        self.state.begin()
        with suppress(Rejected):
            HANDLERS[type(command)](command, step)
            agenda.run(step)
        self.state.journal.roll_back()
        assert photograph(self.state) == before
        return super().execute(command)


@bounded
@given(blocks, histories)
def test_every_command_can_be_taken_back_whole(block: Block, history: list[Move]) -> None:
    played = Player(block, TakingBack()).play(history).scenario

    expect_laws(played.state, played.events, played.rows)


@bounded
@given(blocks, poisoned_histories)
def test_a_fault_in_the_middle_of_a_command_leaves_everything_as_it_was(
    block: Block, history: list[Move]
) -> None:
    """Looked at after every command of the history."""
    played = Player(block).play(history).scenario

    expect_laws(played.state, played.events, played.rows)


@bounded
@given(blocks, histories)
def test_keys_are_given_out_once_and_increase(block: Block, history: list[Move]) -> None:
    happened = Player(block).play(history).scenario.events

    keys = [key for event in happened if (key := _created(event)) is not None]
    assert all(earlier < later for earlier, later in pairwise(keys))


def _created(event: events.Event) -> Key | None:
    if isinstance(event, events.ProcessInstanceCreated):
        return event.instance.key
    return event.key if isinstance(event, CREATING) else None
