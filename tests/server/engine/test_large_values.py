"""A large value has a page of its own, which only the commits that change the value write."""

from collections.abc import Mapping
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bpmn.builder import ProcessBuilder, process, sub_process
from server.engine.formats import ClusterFormat
from server.engine.job_commands import CompleteJob
from server.engine.keys import Key
from server.engine.pages import (
    FIRST_VALUE_PAGE,
    HEAD_PAGE,
    LARGE_OCTETS,
    RECORDS_FORMAT,
    VALUE_FORMAT,
    is_large,
    value_page_of,
)
from server.engine.process_instance import Variable
from server.engine.process_instance_commands import SetVariables
from tests.server.engine.paged import PagedScenario
from tests.server.engine.strategies import bounded

MEGABYTE = 1 << 20
MANY = 300
FEW_OCTETS = 4_096


def two_jobs() -> ProcessBuilder:
    return process("order").service_task("pack", type="pack").service_task("ship", type="ship").end()


def nested() -> ProcessBuilder:
    """The sub-process has a copy of the report."""
    inner = sub_process("inner").start().service_task("pack", type="pack").end()
    return process("order").embed(inner, inputs={"copy": "=report"}).service_task("ship", type="ship").end()


def text(octets: int, letter: str = "x") -> str:
    """JSON of this size."""
    return f'"{letter * (octets - 2)}"'


def started(engine: PagedScenario, **variables: str) -> PagedScenario:
    return engine.deploy(two_jobs()).start(**{name: value.strip('"') for name, value in variables.items()})


def variable(engine: PagedScenario, name: str) -> Variable:
    return engine.instance.variables[engine.instance_key][name]


def page_of(engine: PagedScenario, name: str) -> int:
    return value_page_of(engine.instance_key, variable(engine, name).key)


def written_octets(engine: PagedScenario) -> int:
    return sum(len(page.content) for page in engine.written_pages.values() if page is not None)


def value_pages(engine: PagedScenario) -> set[int]:
    return {number for number in engine.pages if number >= FIRST_VALUE_PAGE}


def set_variable(engine: PagedScenario, name: str, value: str) -> None:
    set_variables(engine, engine.instance_key, {name: value})


def set_variables(engine: PagedScenario, scope_key: Key, variables: Mapping[str, str]) -> None:
    engine.execute(
        SetVariables(
            tenant_id="default",
            process_instance_key=engine.instance_key,
            element_instance_key=scope_key,
            variables=variables,
            is_local=True,
        )
    )


@pytest.mark.parametrize("whole_records", [256, 0])
def test_jobs_beside_a_large_value_are_written_without_it(whole_records: int) -> None:
    engine = started(PagedScenario(whole_records), report=text(MEGABYTE), total="5")
    sizes = []

    (job,) = engine.activate("pack")
    sizes.append(written_octets(engine))
    engine.execute(CompleteJob("default", job.key, {"total": "6"}))
    sizes.append(written_octets(engine))

    assert max(sizes) < FEW_OCTETS
    assert engine.pages[page_of(engine, "report")].format == VALUE_FORMAT
    assert variable(engine, "report").value == text(MEGABYTE)


def test_an_instance_with_small_values_is_one_page_that_the_earlier_version_reads() -> None:
    engine = started(PagedScenario(), report=text(LARGE_OCTETS))

    assert {number: page.format for number, page in engine.pages.items()} == {HEAD_PAGE: RECORDS_FORMAT}


@pytest.mark.parametrize("whole_records", [256, 0])
def test_a_changed_large_value_is_written_alone(whole_records: int) -> None:
    engine = started(PagedScenario(whole_records), first=text(MEGABYTE), second=text(MEGABYTE))

    set_variable(engine, "second", text(2_000, "y"))

    written = set(engine.written_pages)
    assert page_of(engine, "second") in written
    assert page_of(engine, "first") not in written
    assert written_octets(engine) < FEW_OCTETS


@pytest.mark.parametrize("whole_records", [256, 0])
def test_a_value_that_becomes_small_loses_its_page_and_gets_it_back_when_it_grows(whole_records: int) -> None:
    engine = started(PagedScenario(whole_records), report=text(5_000))
    number = page_of(engine, "report")

    set_variable(engine, "report", "1")
    small = value_pages(engine)
    set_variable(engine, "report", text(5_000, "y"))
    large = value_pages(engine)

    assert (small, large) == (set(), {number})


@pytest.mark.parametrize("whole_records", [256, 0])
def test_values_of_a_scope_that_ends_lose_their_pages(whole_records: int) -> None:
    engine = PagedScenario(whole_records).deploy(nested()).start(report="x" * 5_000)
    both = value_pages(engine)

    engine.complete("pack")

    assert len(both) == 2
    assert value_pages(engine) == {page_of(engine, "report")}


@pytest.mark.parametrize("whole_records", [256, 0])
def test_large_items_of_a_collection_have_pages_while_they_are_needed(whole_records: int) -> None:
    builder = process("order").service_task("work", type="work").multi_instance("=reports", sequential=True)
    engine = PagedScenario(whole_records).deploy(builder.end())
    engine.start(reports=["x" * 50_000, "y" * 50_000, "z"])
    items = [item.key for item in engine.instance.items.values()]
    begun = value_pages(engine)

    engine.complete("work")

    pages = [value_page_of(engine.instance_key, key) for key in items]
    assert set(pages[:2]) <= begun
    assert pages[2] not in begun
    assert written_octets(engine) < FEW_OCTETS


@pytest.mark.parametrize("whole_records", [256, 0])
def test_variables_of_a_trigger_are_stored_once_its_event_has_them(whole_records: int) -> None:
    builder = process("order").start_message("begun", message="begin").service_task("ship", type="ship").end()
    engine = PagedScenario(whole_records).deploy(builder)
    engine.publish("begin", report="x" * MEGABYTE)
    (engine.instance_key,) = engine.state.instances

    engine.fail("ship", retries=1)

    assert written_octets(engine) < FEW_OCTETS
    assert value_pages(engine) == {page_of(engine, "report")}


def test_an_instance_that_ends_leaves_no_page_behind() -> None:
    engine = started(PagedScenario(), report=text(MEGABYTE))

    engine.cancel()

    assert engine.stored == {}


def test_variables_are_read_in_the_order_in_which_they_were_created() -> None:
    variables = {f"v{number}": text(2_000 if number % 2 else 20) for number in range(10)}
    engine = started(PagedScenario(), **variables)

    engine.evict_and_bring_back()

    assert list(engine.instance.variables[engine.instance_key]) == list(variables)


@pytest.mark.parametrize("whole_records", [256, 0])
def test_large_values_get_pages_with_the_first_commit_after_the_last_older_node_has_gone(
    whole_records: int,
) -> None:
    engine = PagedScenario(whole_records)
    engine.state.format = ClusterFormat(2)
    started(engine, report=text(5_000), notes=text(5_000))
    before = {page.format for page in engine.pages.values()}

    engine.state.format = ClusterFormat(3)
    engine.activate("pack")

    assert before == {RECORDS_FORMAT}
    assert value_pages(engine) == {page_of(engine, "report"), page_of(engine, "notes")}
    assert sum(len(page.content) for page in engine.pages.values()) < 12_000


def test_an_instance_that_was_read_in_the_earlier_format_moves_with_its_next_commit() -> None:
    engine = PagedScenario()
    engine.state.format = ClusterFormat(2)
    started(engine, report=text(5_000))
    engine.evict_and_bring_back()

    engine.state.format = ClusterFormat(3)
    engine.complete("pack")

    assert value_pages(engine) == {page_of(engine, "report")}
    assert len(engine.pages[HEAD_PAGE].content) < 1_500


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("x" * LARGE_OCTETS, False, id="at the limit"),
        pytest.param("x" * (LARGE_OCTETS + 1), True, id="beyond it"),
        pytest.param("é" * (LARGE_OCTETS // 2), False, id="characters of two octets at the limit"),
        pytest.param("é" * (LARGE_OCTETS // 2 + 1), True, id="characters of two octets beyond it"),
    ],
)
def test_the_size_of_a_value_is_counted_in_octets(value: str, *, expected: bool) -> None:
    assert is_large(value) is expected


class Storing(NamedTuple):
    """`every` so many commands are committed; `is_evicting` what is committed leaves and comes back.

    The cluster format rises after `older` commands.
    """

    whole_records: int
    every: int
    is_evicting: bool
    older: int


class Change(NamedTuple):
    """Sizes of variables by name, which are set where `kind` says, or come with the end of a job."""

    kind: str
    sizes: dict[str, int]


SIZES = st.sampled_from([3, 500, LARGE_OCTETS, LARGE_OCTETS + 1, 3_000, 40_000])
CHANGES = st.builds(
    Change,
    st.sampled_from(["process", "process", "innermost", "fail", "complete"]),
    st.dictionaries(st.sampled_from([f"v{number}" for number in range(8)]), SIZES, max_size=4),
)
STORINGS = st.builds(
    Storing, st.sampled_from([0, 4, 12, 256]), st.integers(1, 3), st.booleans(), st.integers(0, 4)
)


@bounded
@given(st.lists(CHANGES, max_size=12), STORINGS)
def test_any_history_of_values_of_any_size_is_stored_as_it_is(
    history: list[Change], storing: Storing
) -> None:
    """After each commit the scenario reads all pages and compares them with the instances."""
    engine = PagedScenario(storing.whole_records, storing.every).deploy(nested())
    engine.state.format = ClusterFormat(2)
    engine.start()

    for number, change in enumerate(history):
        if number == storing.older:
            engine.state.format = ClusterFormat(3)
        carry_out(change, engine, "abcdefghijklm"[number])
        if storing.is_evicting:
            engine.commit()
            engine.evict_and_bring_back()
    engine.state.format = ClusterFormat(3)
    carry_out(Change("process", {"last": 3}), engine, "z")
    engine.commit()

    assert value_pages(engine) == {
        value_page_of(engine.instance_key, each.key)
        for scope in engine.instance.variables.values()
        for each in scope.values()
        if is_large(each.value)
    }


def carry_out(change: Change, engine: PagedScenario, letter: str) -> None:
    variables = {name: text(size, letter) for name, size in change.sizes.items()}
    (job,) = engine.instance.jobs.values()
    match change.kind:
        case "fail":
            engine.fail(job.type, retries=1)
        case "complete" if job.type == "pack":
            engine.execute(CompleteJob("default", job.key, variables))
        case kind:
            scope_key = engine.instance_key if kind == "process" else job.element_instance_key
            set_variables(engine, scope_key, variables)
