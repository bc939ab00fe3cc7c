import pytest

from identity.delivery.mail.letter import Letter, message_of
from tests.identity.delivery.mail.letters import LETTER, NOON, SENDER


def test_a_letter_on_the_wire_says_who_when_and_that_nobody_is_to_answer() -> None:
    message = message_of(LETTER, letter_id="letter-1", sender=SENDER, at=NOON)

    assert {name: str(value) for name, value in message.items()} == {
        "From": "Example <no-reply@id.example.com>",
        "To": "alice@example.com",
        "Subject": "Confirm your address",
        "Date": "Tue, 01 Jan 2030 12:00:00 +0000",
        "Message-ID": "<letter-1@id.example.com>",
        "Auto-Submitted": "auto-generated",
        "Content-Type": 'text/plain; charset="utf-8"',
        "Content-Transfer-Encoding": "7bit",
        "MIME-Version": "1.0",
    }
    assert message.get_content() == LETTER.text


@pytest.mark.parametrize("line", ["\r\nBcc: eve@example.com", "\nBcc: eve@example.com", "\r\r\n\r\nHello"])
def test_a_header_is_one_header(line: str) -> None:
    for letter in (
        Letter(f"alice@example.com{line}", "Hello", "text"),
        Letter("alice@example.com", f"Hello{line}", "text"),
    ):
        with pytest.raises(ValueError, match=r"."):
            message_of(letter, letter_id="letter-1", sender=SENDER, at=NOON)


def test_a_letter_is_not_shown_by_accident() -> None:
    assert "c0de" not in repr(LETTER)
