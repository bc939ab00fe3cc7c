"""Large process instances are stored in pages, and a commit writes those that changed."""

from contextlib import suppress
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bpmn.builder import ProcessBuilder
from server.bpmn.builder import process as builder_of
from server.engine import process
from server.engine.apply import APPLIERS
from server.engine.changes import CHANGED
from server.engine.documents import UnreadableDocument, changed_pages, unpack
from server.engine.events import InstanceEvent
from server.engine.keys import Key
from server.engine.pages import (
    HEAD_PAGE,
    PAGE_KEYS,
    RECORDS_FORMAT,
    DocumentId,
    Kind,
    StoredPage,
    keys_of,
    page_of,
)
from server.engine.process_instance import ProcessInstance
from server.engine.user_task_commands import CompleteUserTask
from tests.server.engine.first_format import FIRST_FORMAT
from tests.server.engine.paged import PagedScenario, expect_named_changes
from tests.server.engine.player import Player
from tests.server.engine.scenario import Scenario
from tests.server.engine.stored import id_of, pages_of
from tests.server.engine.strategies import Block, Move, blocks, bounded, poisoned_histories

MANY = 300


def spreading() -> ProcessBuilder:
    """Makes jobs, one after the other, until there are as many as `n` says."""
    builder = builder_of("spread").exclusive_gateway("next").parallel_gateway("split")
    builder.service_task("work", type="work").end()
    builder.branch("split").node("task", "count", outputs={"i": "=i + 1"}).exclusive_gateway("enough")
    return builder.flow(condition="=i >= n").end().branch("enough").flow(default=True).connect_to("next")


def spread(jobs: int) -> PagedScenario:
    return PagedScenario().deploy(spreading()).start(i=0, n=jobs)


class Storing(NamedTuple):
    """`every` so many commands are committed; `is_evicting` what is committed leaves and comes back."""

    whole_records: int
    every: int
    is_evicting: bool


@bounded
@given(
    blocks,
    poisoned_histories,
    st.builds(Storing, st.sampled_from([0, 4, 12]), st.integers(1, 3), st.booleans()),
)
def test_pages_that_are_written_after_each_change_hold_every_instance_as_it_is(
    block: Block, history: list[Move], storing: Storing
) -> None:
    """Also after commands that were refused or failed, migrations, and returns of what was evicted."""
    scenario = PagedScenario(storing.whole_records, storing.every)
    player = Player(block, scenario)

    for move in history:
        with suppress(msgspec.DecodeError):
            player.play([move])
        if storing.is_evicting:
            scenario.commit()
            scenario.evict_and_bring_back()
    scenario.commit()

    expect_named_changes(scenario.events)
    known = player.scenario.state
    assert {
        *(id_of(key) for key in known.instances),
        *(DocumentId(Kind.MESSAGE, key) for key in known.messages.messages),
        *(DocumentId(Kind.MESSAGE_SUBSCRIPTION, key) for key in known.messages.subscriptions),
        *(DocumentId(Kind.BROADCAST, key) for key in known.signals.broadcasts),
        *(DocumentId(Kind.START_TIMER, key) for key in known.start_timers.timers),
    } == scenario.stored.keys()


def test_every_event_of_a_process_instance_names_the_records_that_it_changes() -> None:
    assert {event for event in APPLIERS if issubclass(event, InstanceEvent)} == CHANGED.keys()


@given(st.integers(1, 1 << 62), st.integers(0, 1 << 40))
def test_a_record_is_among_the_keys_of_its_page_alone(document: int, distance: int) -> None:
    document_key, key = Key(document), Key(document + distance)

    page = page_of(document_key, key)

    assert key in keys_of(document_key, page)
    assert key not in keys_of(document_key, page + 1)
    assert page == 0 or key not in keys_of(document_key, page - 1)


def test_a_small_instance_is_one_page() -> None:
    engine = PagedScenario().deploy(spreading()).start(i=0, n=10)

    engine.complete("work")

    assert engine.pages.keys() == engine.written_pages.keys() == {HEAD_PAGE}


def test_completing_one_of_many_jobs_writes_their_scope_and_the_page_of_the_job() -> None:
    engine = spread(MANY)

    engine.complete("work")

    assert len(engine.pages) > MANY * 2 // PAGE_KEYS
    assert len(engine.written_pages) <= 3


def test_completing_one_of_ten_thousand_user_tasks_costs_as_much_as_one_of_few() -> None:
    few, many = (completed_user_task(number) for number in (300, 10_000))

    assert few == many
    assert many.pages <= 4


class Cost(NamedTuple):
    events: int
    pages: int


def completed_user_task(number: int) -> Cost:
    """The changes and pages of completing the first of this number of user tasks."""
    builder = builder_of("spread").exclusive_gateway("next").parallel_gateway("split")
    builder.user_task("work", assignment={"candidateGroups": "a"}).end()
    builder.branch("split").node("task", "count", outputs={"i": "=i + 1"}).exclusive_gateway("enough")
    builder.flow(condition="=i >= n").end().branch("enough").flow(default=True).connect_to("next")
    engine = Scenario().deploy(builder).start(i=0, n=number)
    document = id_of(engine.instance_key)
    changed_pages(engine.state, document, set())
    outcome = process(engine.state, CompleteUserTask("default", engine.user_task("work").key), engine.now)
    pages = changed_pages(engine.state, document, outcome.changed[document])
    return Cost(len(outcome.events), len(pages or {}))


def test_updating_one_of_many_variables_writes_its_page() -> None:
    one = builder_of("one").service_task("work", type="work").service_task("rest", type="rest").end()
    engine = PagedScenario().deploy(one).start(**{f"v{number}": number for number in range(MANY)})
    variable = engine.state.instances[engine.instance_key].variables[engine.instance_key]["v7"]

    engine.fail("work", retries=1)
    unchanged = set(engine.written_pages)
    engine.complete("work", v7='"new"')

    page = page_of(engine.instance_key, variable.key)
    assert page not in unchanged
    assert page in engine.written_pages
    assert len(engine.written_pages) <= 4


def test_an_instance_is_whole_again_when_half_of_what_made_it_large_is_left() -> None:
    engine = spread(MANY)
    whole_after = []

    for left in range(MANY - 1, 20, -1):
        engine.complete("work")
        if engine.pages.keys() == {HEAD_PAGE}:
            whole_after.append(left)

    # 62 jobs and their elements, the process instance and two variables are 127 records.
    assert whole_after == list(range(62, 20, -1))


def test_an_instance_that_ends_has_no_pages_left() -> None:
    engine = spread(MANY).cancel()

    assert engine.written[id_of(engine.instance_key)] is None
    assert engine.stored == {}


def test_variables_keep_their_order_in_pages() -> None:
    variables = {f"v{number}": number for number in range(100, 0, -1)}
    engine = Scenario().deploy(builder_of("one").service_task("work", type="work").end()).start(**variables)

    read = unpack(pages_of(engine.instance, most=10))

    assert list(read.variables[read.head.key]) == list(variables)


def first_format() -> ProcessInstance:
    return unpack({HEAD_PAGE: StoredPage(1, FIRST_FORMAT)})


def test_a_document_of_the_first_format_is_read_and_written_anew() -> None:
    instance = first_format()

    pages = pages_of(instance)

    assert [job.type for job in instance.jobs.values()] == ["work"]
    assert [element.element_id for element in instance.elements.values()] == ["order", "a"]
    assert instance.variables[instance.head.key]["x"].value == "1"
    assert [page.format for page in pages.values()] == [RECORDS_FORMAT]
    assert unpack(pages) == instance


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        pytest.param({}, "expected page 0 of a document, found no page", id="no page"),
        pytest.param(
            {3: StoredPage(2, b"\x80")},
            "expected page 0 of a document first, found page 3",
            id="no head page",
        ),
        pytest.param({0: StoredPage(2, b"\x80")}, "expected the head of a process instance", id="no head"),
        pytest.param(
            {0: StoredPage(9, b"\x80")}, "expected a document in a format up to 3, found format 9", id="newer"
        ),
        pytest.param(
            {0: pages_of(first_format())[0], 1: StoredPage(9, b"\x80")},
            "expected a document in a format up to 3, found format 9",
            id="newer page",
        ),
    ],
)
def test_a_document_that_cannot_be_read_says_why(pages: dict[int, StoredPage], message: str) -> None:
    with pytest.raises(UnreadableDocument, match=message):
        unpack(pages)
