"""Random histories on PostgreSQL, in which the owner of the partition is killed again and again."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from server.store.entities import BatchOperation, Entity
from server.store.searchables import SEARCHABLES
from tests.server.engine.conftest import NewScenario
from tests.server.engine.durable import DurableScenario
from tests.server.engine.player import Player
from tests.server.engine.recorded import Recorded, done
from tests.server.engine.scenario import Scenario
from tests.server.engine.strategies import EXAMPLES, Block, Move, blocks, histories

# One takes as long as ten in memory.
FEW = max(1, EXAMPLES // 10)


@settings(max_examples=FEW)
@given(blocks, histories, st.lists(st.booleans(), min_size=1, max_size=20))
def test_a_kill_between_any_two_commits_loses_nothing_and_doubles_nothing(
    bundled_scenario: NewScenario, block: Block, history: list[Move], kills: list[bool]
) -> None:
    """Every answer and every row is as in memory, where nobody is killed."""
    expected = Recorded()
    Player(block, expected).play(history)

    with bundled_scenario() as scenario:
        assert isinstance(scenario, DurableScenario)
        outcomes = []
        for number, (step, _) in enumerate(expected.steps):
            outcomes.append(done(step, scenario))
            if kills[number % len(kills)]:
                scenario.kill()
            scenario.settle()
        scenario.expect_laws()

    assert outcomes == [outcome for _, outcome in expected.steps]
    assert _rows(scenario) == _rows(expected)


def _rows(scenario: Scenario) -> dict[type[Entity], list[Entity]]:
    """All but who began a batch operation, which the engine alone is not told."""
    rows = {entity: scenario.rows.all(entity) for entity in SEARCHABLES}
    nobody = {"actor_id": None, "actor_type": "UNKNOWN"}
    return {**rows, BatchOperation: [msgspec.structs.replace(row, **nobody) for row in rows[BatchOperation]]}
