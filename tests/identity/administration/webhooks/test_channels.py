"""Chat rooms get a line for each event, mail addresses one mail about many."""

from dataclasses import replace
from datetime import timedelta

import pytest

from identity.administration.webhooks.channels import MOST_CHARACTERS, line_of
from identity.administration.webhooks.digests import MOST_SHOWN
from identity.administration.webhooks.webhook import Webhook, WebhookFormat
from identity.crypto.keys.master_keys import MasterKeys
from identity.directory.user import User
from identity.foundation.events.event import Event
from identity.foundation.events.kinds import EventType, Level
from server.platform.clock import VirtualClock
from server.platform.errors import InvalidArgument, InvalidState
from server.platform.records.memory import MemoryRecordStore
from tests.identity.administration.administration import ROOT as ADMINISTRATOR
from tests.identity.administration.webhooks.test_deliveries import ACME, FIELDS, URL, World
from tests.identity.browsers import NOON, CountedRandomness

ROOM = "https://matrix.example.com/_matrix/client/v3/rooms/%21ops:example.com/send/m.room.message"
HOSTILE = "<!channel> <https://evil.example.com|click> @room & more"
MAILBOX = "mailto:security@example.com"


@pytest.fixture
def world() -> World:
    clock = VirtualClock(pinned=NOON)
    return World(MemoryRecordStore(clock), clock)


async def mailing(world: World, **fields: object) -> Webhook:
    found, _ = await world.create(url=MAILBOX, format=WebhookFormat.EMAIL, **fields)
    return found


async def test_slack_gets_a_line_that_mentions_nobody(world: World) -> None:
    await world.create(format=WebhookFormat.SLACK)
    await world.happens(HOSTILE)

    await world.passes(timedelta(minutes=2))

    (url, headers, body), *rest = world.receiver.received
    assert (url, dict(headers), rest) == (URL, {}, [])
    assert body["text"] == (
        "[notice] ForcedLogout in acme: &lt;!channel&gt; &lt;https://evil.example.com|click&gt; @room &amp; more"
        " (2030-01-01 12:00:00 UTC)"
    )
    assert body["mrkdwn"] is False


async def test_a_room_of_matrix_gets_each_event_once_with_the_token(world: World) -> None:
    webhook, secret = await world.create(format=WebhookFormat.MATRIX, url=ROOM, token="syt_ops")
    await world.happens(HOSTILE)

    await world.passes(timedelta(minutes=2))

    ((url, headers, body),) = world.receiver.received
    (delivery,) = (await world.webhook(webhook)).deliveries
    assert url == f"{ROOM}/{delivery.event_id}"
    assert dict(headers) == {"Authorization": "Bearer syt_ops"}
    assert (body["msgtype"], body["m.mentions"], HOSTILE in body["body"]) == ("m.notice", {}, True)
    assert (secret, "syt_ops" in repr(webhook)) == ("", False)


async def test_a_room_that_is_down_misses_nothing_and_keeps_the_order(world: World) -> None:
    await world.create(format=WebhookFormat.SLACK)
    world.receiver.statuses[URL] = 503
    for number in range(3):
        await world.happens(f"event {number}")
    await world.passes(timedelta(hours=1))
    del world.receiver.statuses[URL]

    await world.passes(timedelta(hours=2))

    lines = [body["text"] for _, _, body in world.receiver.received]
    assert ["event 0" in lines[0], "event 1" in lines[1], "event 2" in lines[2], len(lines)] == [
        True,
        True,
        True,
        3,
    ]


def test_a_line_has_a_bound_and_no_line_breaks() -> None:
    event = Event(
        tenant_id=ACME.tenant_id,
        id="1",
        at=NOON,
        type=EventType.LOGIN_REFUSED,
        level=Level.WARNING,
        text="a\nb" + "c" * 5000,
        ip="198.51.100.7",
    )

    line = line_of(event)

    assert line.startswith("[warning] LoginRefused in acme: a bccc")
    assert (len(line), line[-26:]) == (MOST_CHARACTERS, " (2030-01-01 12:00:00 UTC)")


async def test_a_digest_comes_once_a_period_and_not_without_events(world: World) -> None:
    webhook = await mailing(world, digest_hours=2)
    await world.happens(*(f"event {number}" for number in range(150)))

    await world.passes(timedelta(hours=1, minutes=55))
    before = list(world.mailbox.letters)
    await world.passes(timedelta(minutes=10))
    await world.passes(timedelta(hours=4))

    (letter,) = world.mailbox.letters
    assert (before, letter.to) == ([], "security@example.com")
    assert letter.subject == "Security events of id.example.com: 150"
    assert "ForcedLogout (notice): 150" in letter.text
    assert f"Further events that this mail leaves out: {150 - MOST_SHOWN}." in letter.text
    assert letter.text.count("[notice] ForcedLogout in acme: event ") == MOST_SHOWN
    (delivery,) = (await world.webhook(webhook)).deliveries
    assert (delivery.type, delivery.is_delivered) == ("Digest", True)
    assert world.receiver.attempts == 0


async def test_a_digest_shows_the_most_severe_events(world: World) -> None:
    await mailing(world, digest_hours=1, level=Level.INFO)
    await world.events.emit(ACME.tenant_id, EventType.CREDENTIAL_STUFFING, text="the one that matters")
    await world.happens(*(f"event {number}" for number in range(300)))

    await world.passes(timedelta(hours=1, minutes=5))

    (letter,) = world.mailbox.letters
    assert "the one that matters" in letter.text


async def test_a_digest_is_in_the_language_of_the_user_with_the_address(world: World) -> None:
    await world.users.add(
        User(tenant_id=ACME.tenant_id, id="u" * 24, email="security@example.com", language="de")
    )
    await mailing(world)
    await world.happens("event")

    await world.passes(timedelta(hours=25), step=timedelta(minutes=5))

    (letter,) = world.mailbox.letters
    assert (letter.language, letter.subject) == ("de", "Sicherheitsereignisse von id.example.com: 1")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"format": WebhookFormat.EMAIL}, "url", id="no mail address"),
        pytest.param(
            {"format": WebhookFormat.EMAIL, "url": "mailto:a@example.com,b@example.com"}, "url", id="two"
        ),
        pytest.param(
            {"format": WebhookFormat.EMAIL, "url": "mailto:a@example.com?bcc=b@example.com"}, "url", id="bcc"
        ),
        pytest.param({"url": MAILBOX}, "url", id="mail of another format"),
        pytest.param({"format": WebhookFormat.MATRIX, "token": "t"}, "url", id="no room"),
        pytest.param(
            {
                "format": WebhookFormat.MATRIX,
                "token": "t",
                "url": ROOM.replace("matrix.example.com", "10.0.0.1"),
            },
            "url",
            id="internal room",
        ),
        pytest.param({"format": WebhookFormat.MATRIX, "url": ROOM}, "token", id="no token"),
        pytest.param({"format": WebhookFormat.SLACK, "token": "t"}, "token", id="token of another format"),
    ],
)
async def test_receivers_that_a_format_does_not_have(
    world: World, fields: dict[str, object], reason: str
) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        await world.create(**fields)


async def test_without_mail_there_is_no_digest(world: World) -> None:
    world.administration = world.administrator(has_mail=False)

    with pytest.raises(InvalidArgument, match="sends no mail"):
        await mailing(world)


async def test_the_token_stays_and_goes_to_no_other_address(world: World) -> None:
    webhook, _ = await world.create(format=WebhookFormat.MATRIX, url=ROOM, token="syt_ops")
    room = replace(FIELDS, format=WebhookFormat.MATRIX, url=ROOM)

    await world.administration.change(ACME, webhook.id, replace(room, name="renamed"), ADMINISTRATOR)
    elsewhere = replace(room, url=ROOM.replace("matrix.example.com", "evil.example.com"))
    with pytest.raises(InvalidArgument, match="token"):
        await world.administration.change(ACME, webhook.id, elsewhere, ADMINISTRATOR)
    await world.administration.change(ACME, webhook.id, FIELDS, ADMINISTRATOR)

    assert (await world.webhook(webhook)).token is None


async def test_only_signed_webhooks_have_a_secret(world: World) -> None:
    webhook, _ = await world.create(format=WebhookFormat.SLACK)

    with pytest.raises(InvalidState, match="standard"):
        await world.administration.rotate(ACME, webhook.id, ADMINISTRATOR)


async def test_a_new_master_key_replaces_the_one_of_the_token(world: World) -> None:
    webhook, _ = await world.create(format=WebhookFormat.MATRIX, url=ROOM, token="syt_ops")
    keys = MasterKeys({"one": b"1" * 32, "two": b"2" * 32}, "two", randomness=CountedRandomness())
    secrets = type(world.secrets)(world.store, keys)

    await secrets.reseal(ACME.tenant_id)

    kept = await world.webhook(webhook)
    assert (kept.token and kept.token.key_id, kept.secret.key_id, secrets.open_token(kept)) == (
        "two",
        "two",
        "syt_ops",
    )
