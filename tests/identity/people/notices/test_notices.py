from dataclasses import replace

import pytest

from identity.access.callers import Actor, ActorKind
from identity.foundation.events.kinds import EventType
from identity.people.user_changes import UserChange
from tests.identity.administration.administration import ALICE, KEY, ROOT
from tests.identity.browsers import ADDRESS
from tests.identity.people.notices.told import Told

HERSELF = Actor(ActorKind.USER, ALICE, "alice@example.com", session="s1", peer_address=ADDRESS)
PASSWORD = UserChange(password="a new and quite long one")


@pytest.mark.parametrize(
    "actor", [HERSELF, replace(ROOT, peer_address=ADDRESS)], ids=["by herself", "by an administrator"]
)
async def test_a_person_is_told_of_a_new_password(told: Told, actor: Actor) -> None:
    await told.users.update(told.tenant, ALICE, PASSWORD, actor=actor)

    (letter,) = told.mail.letters
    assert (letter.to, letter.subject) == ("alice@example.com", "Your password was changed")
    assert "on 1 January 2030, 12:00 UTC" in letter.text
    assert ("192.0.2.7" in letter.text) == (actor is HERSELF)


async def test_a_notice_is_in_the_language_of_the_user(told: Told) -> None:
    await told.users.update(told.tenant, ALICE, UserChange(language="de-AT"), actor=KEY)
    await told.users.update(told.tenant, ALICE, PASSWORD, actor=HERSELF)

    (letter,) = told.mail.letters
    assert (letter.subject, letter.language) == ("Ihr Passwort wurde geändert", "de")
    assert f"Dies geschah am 1. Januar 2030, 12:00 UTC von der IP-Adresse {ADDRESS}." in letter.text


async def test_a_new_address_is_told_at_the_old_one_too(told: Told) -> None:
    await told.users.update(told.tenant, ALICE, UserChange(email="alice@example.org"), actor=KEY)

    assert [letter.to for letter in told.mail.letters] == ["alice@example.org", "alice@example.com"]
    assert all("alice@example.com → alice@example.org" in letter.text for letter in told.mail.letters)


@pytest.mark.parametrize(
    ("event_type", "subject"),
    [
        (EventType.PASSKEY_ADDED, "A passkey was added"),
        (EventType.PASSKEY_REMOVED, "A passkey was removed"),
        (EventType.ACCOUNT_CONVERTED_TO_PASSKEY, "Your password was removed"),
        (EventType.ONE_TIME_CODES_ADDED, "An authenticator app was added"),
        (EventType.ONE_TIME_CODES_REMOVED, "An authenticator app was removed"),
        (EventType.ONE_TIME_CODES_PAUSED, "Wrong one-time codes"),
        (EventType.RECOVERY_CODES_MADE, "New recovery codes"),
        (EventType.RECOVERY_CODES_REMOVED, "Recovery codes were removed"),
        (EventType.RECOVERY_CODE_USED, "A recovery code was used"),
        (EventType.USER_PASSWORD_RESET, "Your password was changed"),
    ],
)
async def test_a_person_is_told_of_changed_factors(told: Told, event_type: EventType, subject: str) -> None:
    await told.emit(event_type, text="laptop")

    assert told.subjects == [subject]


async def test_what_somebody_chose_stands_in_no_letter(told: Told) -> None:
    await told.emit(EventType.PASSKEY_ADDED, text="https://evil.example.com/")

    assert "evil" not in told.mail.letters[0].text


@pytest.mark.parametrize("event_type", [EventType.CHANGED, EventType.INVALID_LOGINS, EventType.LOGGED_OUT])
async def test_of_everything_else_nobody_is_told(told: Told, event_type: EventType) -> None:
    await told.emit(event_type)
    await told.users.update(told.tenant, ALICE, UserChange(given_name="Alice"), actor=KEY)

    assert told.mail.letters == []


async def test_who_has_gone_is_told_nothing(told: Told) -> None:
    await told.emit(EventType.PASSKEY_ADDED, user_id="nobody")
    await told.told.emit(told.tenant.tenant_id, EventType.USER_PASSWORD_RESET)

    assert told.mail.letters == []


async def test_without_mail_things_happen_all_the_same(told: Told) -> None:
    told.mail.is_open = False

    await told.users.update(told.tenant, ALICE, PASSWORD, actor=HERSELF)

    assert ("UserPasswordChanged", "alice@example.com") in await told.told_of()
