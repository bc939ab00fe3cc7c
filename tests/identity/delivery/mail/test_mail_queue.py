"""Queued mails stay in the store, encrypted, until the mail server has accepted them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from identity.delivery.mail.config import EmailConfig
from identity.delivery.mail.letter import Letter
from identity.delivery.mail.letter_sender import DeliveryOutcome, LetterSender
from identity.delivery.mail.mail_queue import MailQueue
from identity.delivery.mail.queued_letter import QUEUED_LETTERS, LetterSafe, QueuedLetter
from identity.delivery.retry_queue import RetryQueue
from identity.foundation.events.event import EVENTS
from identity.foundation.events.kinds import EventType, Level
from tests.identity.browsers import Provider
from tests.identity.delivery.mail.letters import LETTER, NEW, OLD, SENDER, PostOffice, master_keys
from tests.identity.mailbox import text_of

CONFIG = EmailConfig(smtp_host="mail.example.com", from_address=SENDER, attempts=3)
HOUR = timedelta(hours=1)


@pytest.fixture
async def provider() -> Provider:
    return Provider()


def mail_queue(provider: Provider, *keys: str, is_open: bool = True) -> MailQueue:
    safe = LetterSafe(master_keys(*(keys or (OLD,))))
    return MailQueue(
        provider.store, safe, is_open=is_open, clock=provider.clock, randomness=provider.randomness
    )


def carrying(provider: Provider, office: PostOffice, *keys: str) -> RetryQueue[QueuedLetter]:
    safe = LetterSafe(master_keys(*(keys or (OLD,))))
    return RetryQueue(
        "letter",
        provider.store.of(QUEUED_LETTERS),
        LetterSender(office, safe, sender=SENDER, events=provider.events, clock=provider.clock),
        clock=provider.clock,
        randomness=provider.randomness,
        policy=CONFIG,
    )


async def queued(provider: Provider) -> Sequence[QueuedLetter]:
    return await provider.store.of(QUEUED_LETTERS).page(provider.tenant.tenant_id)


async def test_a_letter_is_handed_to_the_mail_server_once(provider: Provider) -> None:
    office = PostOffice()
    await mail_queue(provider).post(provider.tenant, LETTER)
    queue = carrying(provider, office)

    await queue.run_due(provider.tenant)
    provider.clock.advance(HOUR)
    await queue.run_due(provider.tenant)

    [(_, message)] = office.received
    assert (message["To"], message["Subject"], message["From"]) == (LETTER.to, LETTER.subject, SENDER)
    assert text_of(message) == LETTER.text
    assert await queued(provider) == []


async def test_nothing_of_a_letter_is_readable_in_the_store(provider: Provider) -> None:
    await mail_queue(provider).post(provider.tenant, LETTER)

    [letter] = await queued(provider)
    written = msgspec.json.encode(letter)
    assert b"c0de" not in letter.content.content
    assert b"alice" not in written
    assert b"c0de" not in written


async def test_a_letter_waits_until_the_mail_server_is_back(provider: Provider) -> None:
    office = PostOffice(DeliveryOutcome.AWAY)
    await mail_queue(provider).post(provider.tenant, LETTER)
    queue = carrying(provider, office)
    await queue.run_due(provider.tenant)
    await queue.run_due(provider.tenant)
    assert len(office.received) == 1

    office.reception = DeliveryOutcome.TAKEN
    provider.clock.advance(timedelta(minutes=2))
    await queue.run_due(provider.tenant)

    assert len(office.received) == 2
    assert len({letter_id for letter_id, _ in office.received}) == 1
    assert await queued(provider) == []


async def test_a_letter_that_nobody_takes_is_told_to_administrators(provider: Provider) -> None:
    office = PostOffice(DeliveryOutcome.AWAY)
    await mail_queue(provider).post(provider.tenant, LETTER)
    queue = carrying(provider, office)

    for _ in range(CONFIG.attempts + 1):
        await queue.run_due(provider.tenant)
        provider.clock.advance(timedelta(minutes=2))

    assert len(office.received) == CONFIG.attempts
    assert await queued(provider) == []
    [event] = await provider.store.of(EVENTS).page(provider.tenant.tenant_id)
    assert (event.type, event.level, event.data) == (EventType.EMAIL_SEND_ERROR, Level.CRITICAL, 3)
    assert event.text == "Confirm your address -> alice@example.com"


async def test_a_letter_that_cannot_be_read_ends_no_other(provider: Provider) -> None:
    office, box = PostOffice(), mail_queue(provider)
    await box.post(provider.tenant, LETTER)
    await box.post(provider.tenant, LETTER)
    one, other = await queued(provider)
    records = provider.store.of(QUEUED_LETTERS)
    await records.replace(replace(one, content=other.content))

    await carrying(provider, office).run_due(provider.tenant)

    assert [letter_id for letter_id, _ in office.received] == [other.id]
    assert [letter.id for letter in await queued(provider)] == [one.id]


async def test_a_letter_that_can_never_be_read_is_told_to_administrators(provider: Provider) -> None:
    office = PostOffice()
    await mail_queue(provider).post(provider.tenant, LETTER)
    queue = carrying(provider, office, NEW)

    for _ in range(CONFIG.attempts):
        await queue.run_due(provider.tenant)
        provider.clock.advance(timedelta(minutes=2))

    assert await queued(provider) == []
    [event] = await provider.store.of(EVENTS).page(provider.tenant.tenant_id)
    assert (event.type, event.text) == (EventType.EMAIL_SEND_ERROR, "a letter that cannot be decrypted")


@pytest.mark.parametrize(
    "letter",
    [LETTER, Letter("nobody at all", "Hello", "text"), Letter("a@example.com\r\nBcc: e@example.com", "", "")],
)
async def test_what_is_refused_for_good_is_tried_once(provider: Provider, letter: Letter) -> None:
    office = PostOffice(DeliveryOutcome.REFUSED)
    await mail_queue(provider).post(provider.tenant, letter)

    await carrying(provider, office).run_due(provider.tenant)

    assert await queued(provider) == []
    [event] = await provider.store.of(EVENTS).page(provider.tenant.tenant_id)
    assert event.type is EventType.EMAIL_SEND_ERROR


async def test_letters_of_one_matter_come_seldom(provider: Provider) -> None:
    box = mail_queue(provider)

    async def is_posted(matter: str = "notice", to: str = "alice@example.com") -> bool:
        letter = Letter(to, "Hello", "text")
        return await box.post_seldom(provider.tenant, letter, subject_matter=matter, every=HOUR)

    assert await is_posted()
    assert not await is_posted()
    assert await is_posted(matter="reset")
    assert await is_posted(to="bob@example.com")
    provider.clock.advance(HOUR)
    assert await is_posted()
    assert len(await queued(provider)) == 4


async def test_without_mail_letters_go_nowhere(provider: Provider) -> None:
    box = mail_queue(provider, is_open=False)

    await box.post(provider.tenant, LETTER)

    assert not box.is_open
    assert await queued(provider) == []


async def test_letters_that_wait_are_read_with_a_new_master_key(provider: Provider) -> None:
    office = PostOffice()
    await mail_queue(provider).post(provider.tenant, LETTER)

    await mail_queue(provider, OLD, NEW).reseal(provider.tenant.tenant_id)
    await carrying(provider, office, NEW).run_due(provider.tenant)

    [(_, message)] = office.received
    assert text_of(message) == LETTER.text
