from dataclasses import replace
from email.message import EmailMessage
from html.parser import HTMLParser

import pytest

from identity.delivery.mail.letter import Letter, paragraphs
from identity.delivery.mail.message import message_of
from identity.foundation.tenants import Tenant
from server.platform.call import TenantId
from tests.identity.delivery.mail.letters import LETTER, NOON, SENDER, TENANT
from tests.identity.mailbox import text_of

LINK = "https://id.example.com/auth/v1/users/1/confirm?code=a&b"
HOSTILE = "<img src=x onerror=alert(1)>{name}"


class _Read(HTMLParser):
    """What a mail program finds in an HTML part."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.words: list[str] = []
        self.lang = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "href":
                self.links.append(value or "")
            if name in {"src", "background", "srcset"} or "url(" in (value or ""):
                self.loads.append(value or "")
            if tag == "html" and name == "lang":
                self.lang = value or ""

    def handle_data(self, data: str) -> None:
        self.words.append(data.strip())


def message(letter: Letter = LETTER, tenant: Tenant = TENANT) -> EmailMessage:
    return message_of(letter, letter_id="letter-1", sender=SENDER, tenant=tenant, at=NOON)


def html(letter: Letter, tenant: Tenant = TENANT) -> _Read:
    part = message(letter, tenant).get_body(("html",))
    assert part is not None
    found = _Read()
    found.feed(part.get_content())
    return found


def test_a_letter_on_the_wire_says_who_when_and_that_nobody_is_to_answer() -> None:
    found = message()

    headers = {name: str(value) for name, value in found.items()}
    assert headers.pop("Content-Type").startswith("multipart/alternative")
    assert headers == {
        "From": "Example <no-reply@id.example.com>",
        "To": "alice@example.com",
        "Subject": "Confirm your address",
        "Date": "Tue, 01 Jan 2030 12:00:00 +0000",
        "Message-ID": "<letter-1@id.example.com>",
        "Auto-Submitted": "auto-generated",
        "MIME-Version": "1.0",
    }


def test_a_letter_has_a_text_part_and_then_an_html_part() -> None:
    found = message()

    assert [part.get_content_type() for part in found.iter_parts()] == ["text/plain", "text/html"]
    assert text_of(found) == LETTER.text


def test_the_html_part_has_the_name_and_the_mark_of_the_tenant_and_every_paragraph() -> None:
    text = paragraphs("Hello,", "open this link:", LINK, "Goodbye.")
    found = html(replace(LETTER, text=text, language="en"))

    assert found.lang == "en"
    assert {"A", "Acme & Sons", LETTER.subject, "Hello,", "open this link:", LINK, "Goodbye."} <= {
        *found.words
    }
    assert found.links == [LINK]


def test_the_html_part_is_in_the_language_of_the_letter() -> None:
    found = html(replace(LETTER, text=paragraphs("Hallo", LINK), language="de"))

    assert found.lang == "de"
    assert "Link öffnen" in found.words


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Acme", "Acme"), ("  ", "id.example.com"), ("acme", "id.example.com"), ("", "id.example.com")],
)
def test_a_tenant_without_a_name_of_its_own_is_shown_by_its_host(name: str, shown: str) -> None:
    assert shown in html(LETTER, replace(TENANT, name=name)).words


def test_text_of_a_letter_is_text_and_no_other_address_is_a_link() -> None:
    elsewhere = "https://id.example.com.evil.test/auth/v1/"
    letter = replace(LETTER, subject=HOSTILE, text=paragraphs(HOSTILE, elsewhere, f"{LINK} now"))
    found = html(letter, replace(TENANT, name=HOSTILE))

    assert "img" not in found.tags
    assert found.links == []
    assert found.words.count(HOSTILE) == 4


def test_the_html_part_loads_nothing() -> None:
    found = html(replace(LETTER, text=paragraphs("Hello,", LINK)))

    assert found.loads == []
    assert {"script", "link", "style", "img"}.isdisjoint(found.tags)


def test_lines_of_a_long_letter_are_short_enough_for_mail() -> None:
    """RFC 5322 §2.1.1: a line has at most 998 characters."""
    octets = message(replace(LETTER, text=paragraphs("word " * 2000, LINK + "a" * 900))).as_bytes()

    assert max(map(len, octets.split(b"\r\n"))) <= 998


@pytest.mark.parametrize("line", ["\r\nBcc: eve@example.com", "\nBcc: eve@example.com", "\r\r\n\r\nHello"])
def test_a_header_is_one_header(line: str) -> None:
    for letter in (
        Letter(f"alice@example.com{line}", "Hello", "text"),
        Letter("alice@example.com", f"Hello{line}", "text"),
    ):
        with pytest.raises(ValueError, match=r"."):
            message(letter)


def test_a_letter_is_not_shown_by_accident() -> None:
    assert "c0de" not in repr(LETTER)


def test_the_name_of_a_tenant_does_not_tell_tenants_apart() -> None:
    assert replace(TENANT, name="Acme") == replace(TENANT, name="Other")
    assert Tenant(TenantId("other"), TENANT.issuer) != TENANT
