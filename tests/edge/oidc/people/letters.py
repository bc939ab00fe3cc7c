"""Mails that the provider has written, as users find them."""

from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from tests.identity.mailbox import link_in, text_of
from tests.waits import until


@dataclass(frozen=True)
class Letters:
    directory: Path

    async def text(self, subject: str, *, to: str = "alice@example.com") -> str:
        """Return the text of the mail with this subject, as soon as it exists."""
        found: list[str] = []

        def is_there() -> bool:
            found[:] = [
                text_of(letter) for letter in self.all() if (letter["Subject"], letter["To"]) == (subject, to)
            ]
            return bool(found)

        await until(is_there)
        (text,) = found
        return text

    async def path(self, subject: str, *, to: str = "alice@example.com") -> str:
        """Return the path of the link in that mail, on the server under test."""
        return urlsplit(link_in(await self.text(subject, to=to))).path

    def all(self) -> list[EmailMessage]:
        return [
            cast("EmailMessage", message_from_bytes(path.read_bytes(), policy=default))
            for path in self.directory.glob("*.eml")
        ]
