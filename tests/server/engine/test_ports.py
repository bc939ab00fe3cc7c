"""Expressions of a process see, beside variables, the command's time, and chance that follows from keys."""

from uuid import UUID

from server.bpmn.builder import process
from server.engine.chance import bits
from tests.server.engine.scenario import MINUTE, Scenario


def test_now_and_today_are_those_of_the_command(engine: Scenario) -> None:
    engine.deploy(process("p").service_task("a", type="a", inputs={"at": "=now()", "day": "=today()"}).end())

    engine.advance(MINUTE).start()

    local = engine.variables(engine.element("a").key)
    assert local["at"].startswith(f"{engine.now:%Y-%m-%dT%H:%M:%S}")
    assert local["day"] == f"{engine.now:%Y-%m-%d}"


def test_no_uuid_comes_twice(engine: Scenario) -> None:
    both = {"one": "=uuid()", "two": "=uuid()"}
    engine.deploy(process("p").service_task("a", type="a", inputs=both).end())

    found: list[str] = []
    for _ in range(3):
        engine.start()
        found += engine.variables(engine.element("a").key).values()

    assert len({UUID(text) for text in found}) == 6


def test_jobs_that_end_at_the_same_time_get_uuids_of_their_own(engine: Scenario) -> None:
    """Between them no key is given: only the scope is another."""
    two = (
        process("p").start().parallel_gateway("fork")
        .service_task("left", type="left", outputs={"left": "=uuid()"}).parallel_gateway("join").end()
        .branch("fork").service_task("right", type="right", outputs={"right": "=uuid()"})
        .connect_to("join")
    )  # fmt: skip
    engine.deploy(two).start(left="", right="")

    engine.complete("left").complete("right")

    variables = engine.variables()
    assert variables["left"] != variables["right"]


def test_the_same_story_has_the_same_chance() -> None:
    model = process("p").service_task("a", type="a", inputs={"id": "=uuid()"}).end()

    first, second = (Scenario().deploy(model).start() for _ in range(2))

    assert first.events == second.events


def test_bits_are_as_many_as_asked_for_and_differ_by_their_seed() -> None:
    found = {bits(64, place) for place in range(1000)}

    assert len(found) == 1000
    assert max(found) < 2**64
    assert {bits(1, place) for place in range(100)} == {0, 1}
