"""Writes mails as files into a directory, for developers and tests."""

import asyncio
from email.message import EmailMessage
from pathlib import Path

from identity.delivery.mail.letter_sender import DeliveryOutcome


class LetterDirectory:
    """A mail is the file `<id>.eml`, written atomically and readable by its owner only."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def send(self, letter_id: str, message: EmailMessage) -> DeliveryOutcome:
        try:
            await asyncio.to_thread(self._write, letter_id, message.as_bytes())
        except OSError:
            return DeliveryOutcome.AWAY
        return DeliveryOutcome.TAKEN

    def _write(self, letter_id: str, octets: bytes) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = self._directory / f"{letter_id}.part"
        written.touch(mode=0o600)
        written.write_bytes(octets)
        written.replace(self._directory / f"{letter_id}.eml")
