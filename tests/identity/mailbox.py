"""A mailbox with every mail of a tenant, readable by tests."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.message import EmailMessage

from identity.delivery.mail.letter import Letter
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock


@dataclass
class Mailbox:
    clock: Clock
    is_open: bool = True
    letters: list[Letter] = field(default_factory=list)
    _not_before: dict[tuple[str, str], datetime] = field(default_factory=dict)

    async def post(self, _tenant: Tenant, letter: Letter) -> None:
        if self.is_open:
            self.letters.append(letter)

    async def post_seldom(
        self, tenant: Tenant, letter: Letter, *, subject_matter: str, every: timedelta
    ) -> bool:
        now, matter = self.clock.now(), (subject_matter, letter.to)
        if now < self._not_before.get(matter, now):
            return False
        self._not_before[matter] = now + every
        await self.post(tenant, letter)
        return True

    def link(self, number: int = -1) -> str:
        """Return the address in a mail."""
        return link_in(self.letters[number].text)


def link_in(text: str) -> str:
    """Return the only address in the text of a mail."""
    (link,) = (word for word in text.split() if word.startswith(("https://", "http://")))
    return link


def text_of(message: EmailMessage) -> str:
    """Return the text part of a mail."""
    part = message.get_body(("plain",))
    assert part is not None
    return str(part.get_content())
