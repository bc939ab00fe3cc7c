import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from joserfc.jwk import ECKey

from identity.delivery.http.published_keys import PublishedKeys
from server.platform.clock import VirtualClock
from tests.identity.documents import KnownDocuments

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
URI = "https://other.example/keys"
KEYS = {kid: ECKey.generate_key("P-256", {"kid": kid}) for kid in ("before", "after")}
PAUSE = timedelta(seconds=30)
LIFETIME = timedelta(minutes=5)


class Publisher:
    """A publisher of keys, and a reader with its cache."""

    def __init__(self) -> None:
        self.clock = VirtualClock(pinned=NOON)
        self.documents = KnownDocuments()
        self.read = PublishedKeys(self.documents, self.clock)

    def publish(self, *kids: str) -> None:
        keys = [KEYS[kid].as_dict(private=False) for kid in kids]
        self.documents.texts[URI] = json.dumps({"keys": keys})

    async def kids(self, kid: str) -> list[str | None]:
        return [key.kid for key in await self.read.at(URI, kid=kid)]


@pytest.fixture
def publisher() -> Publisher:
    publisher = Publisher()
    publisher.publish("before")
    return publisher


async def test_keys_are_kept_for_a_while(publisher: Publisher) -> None:
    assert await publisher.kids("before") == ["before"]
    publisher.clock.advance(LIFETIME - timedelta(seconds=1))
    assert await publisher.kids("before") == ["before"]
    assert len(publisher.documents.asked) == 1

    publisher.publish("after")
    publisher.clock.advance(timedelta(seconds=1))

    assert await publisher.kids("before") == []


async def test_a_rotation_is_noticed_at_once(publisher: Publisher) -> None:
    await publisher.kids("before")
    publisher.publish("before", "after")

    assert await publisher.kids("after") == ["after"]


async def test_a_rotation_after_an_invented_key_id_is_noticed_after_the_pause(publisher: Publisher) -> None:
    await publisher.kids("invented")
    publisher.publish("before", "after")

    assert await publisher.kids("after") == []
    publisher.clock.advance(PAUSE)
    assert await publisher.kids("after") == ["after"]


async def test_invented_key_ids_cost_the_publisher_nothing(publisher: Publisher) -> None:
    await publisher.kids("before")

    for number in range(100):
        assert await publisher.kids(f"invented-{number}") == []

    assert len(publisher.documents.asked) == 2


async def test_whoever_asks_at_the_same_time_waits_for_the_same_answer(publisher: Publisher) -> None:
    found = await asyncio.gather(*(publisher.kids("before") for _ in range(20)))

    assert found == [["before"]] * 20
    assert len(publisher.documents.asked) == 1


async def test_who_is_away_for_a_while_keeps_the_keys_that_were_there(publisher: Publisher) -> None:
    await publisher.kids("before")
    publisher.documents.texts.clear()

    publisher.clock.advance(timedelta(minutes=59))
    assert await publisher.kids("before") == ["before"]
    publisher.clock.advance(LIFETIME)
    assert await publisher.kids("before") == []


async def test_a_set_that_could_not_be_read_is_read_again_after_the_pause(publisher: Publisher) -> None:
    text = publisher.documents.texts.pop(URI)
    assert await publisher.kids("before") == []
    publisher.documents.texts[URI] = text

    assert await publisher.kids("before") == []
    publisher.clock.advance(PAUSE)
    assert await publisher.kids("before") == ["before"]


async def test_of_the_sets_that_are_known_the_one_asked_for_least_lately_is_forgotten(
    publisher: Publisher,
) -> None:
    await publisher.kids("before")
    for number in range(255):
        await publisher.read.at(f"{URI}/{number}", kid="")
    await publisher.kids("before")
    await publisher.read.at(f"{URI}/255", kid="")

    await publisher.kids("before")
    assert publisher.documents.asked.count(URI) == 1
    await publisher.read.at(f"{URI}/0", kid="")
    assert publisher.documents.asked.count(f"{URI}/0") == 2
