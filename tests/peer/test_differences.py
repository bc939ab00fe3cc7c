"""Two reviewed differences in one step, and one beside which something is unexplained."""

from collections import Counter

from tests.peer.differences import explanations
from tests.peer.predicates import Fact, Found

_HANDLER = ("main", "undo_handler")
_GATEWAY_ENTERED: dict[Fact, int] = {("main", "fork", "COMPLETED"): 1, ("main", "fork_to_end", "TAKEN"): 1}


def test_a_modification_shows_a_difference_of_handlers_and_one_of_gateways_at_once() -> None:
    found = _modification(ours={(*_HANDLER, "TERMINATED"): 1, **_GATEWAY_ENTERED}, theirs={})

    names = [row.name for row in explanations(found)]

    assert names == [
        "handlers of a throwing event that a modification terminates",
        "gateways that a modification activates",
    ]


def test_a_difference_of_handlers_does_not_explain_what_theirs_has_elsewhere() -> None:
    found = _modification(
        ours={(*_HANDLER, "TERMINATED"): 1, **_GATEWAY_ENTERED}, theirs={("main", "other", "COMPLETED"): 1}
    )

    assert explanations(found) == []


def _modification(*, ours: dict[Fact, int], theirs: dict[Fact, int]) -> Found:
    """Of a gateway, beside a compensation handler that only theirs still has."""
    return Found(
        number=0,
        step=1,
        move="modify",
        details="modify 0 2 fork {} 2",
        reason="",
        passed=frozenset(),
        was_modified=True,
        forgotten=frozenset(),
        ours={"happened": Counter(ours)},
        theirs={
            "element": Counter({(*_HANDLER, "SERVICE_TASK", "ACTIVATED"): 1}),
            "happened": Counter(theirs),
        },
        model='<bpmn:parallelGateway id="fork" />',
    )
