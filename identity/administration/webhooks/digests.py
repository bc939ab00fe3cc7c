"""Mails that sum the events of a period up: how many there were of each type, and the most severe ones in full."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from identity.administration.webhooks.channels import line_of
from identity.administration.webhooks.webhook import Webhook
from identity.delivery.mail.letter import Letter, paragraphs
from identity.directory.users import Users
from identity.foundation.events.event import Event
from identity.foundation.tenants import Tenant
from server.platform.languages import Language, languages

MOST_SHOWN = 100
"""Number of events that a mail has in full."""


class Mail(Protocol):
    async def post(self, tenant: Tenant, letter: Letter) -> None: ...


@dataclass(slots=True)
class Digest:
    """The events of a period: their number by level and type, and the first of the most severe ones."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    shown: list[Event] = field(default_factory=list)

    def add(self, events: Sequence[Event]) -> None:
        self.counts.update((event.level, event.type) for event in events)
        by_severity = sorted((*self.shown, *events), key=lambda event: (-event.level.severity, event.id))
        self.shown = by_severity[:MOST_SHOWN]

    @property
    def number(self) -> int:
        return self.counts.total()


class Digests:
    def __init__(self, users: Users, mail: Mail) -> None:
        self._users = users
        self._mail = mail

    async def post(self, tenant: Tenant, webhook: Webhook, digest: Digest) -> None:
        """Queue the mail, in the language of the recipient if that is a user of the tenant."""
        to = webhook.url.removeprefix("mailto:")
        user = await self._users.find_by_email(tenant, to)
        language = languages().of(user.language if user is not None else "")
        await self._mail.post(tenant, _letter(to, tenant, webhook, digest, language))


def _letter(to: str, tenant: Tenant, webhook: Webhook, digest: Digest, language: Language) -> Letter:
    _ = language.translated
    counts = (f"{event} ({level}): {number}" for (level, event), number in digest.counts.most_common())
    shown = sorted(digest.shown, key=lambda event: event.id)
    left = digest.number - len(shown)
    return Letter(
        to,
        _("Security events of %(tenant)s: %(number)s", tenant=tenant.shown_name, number=digest.number),
        paragraphs(
            _("Hello,"),
            _("These security events happened at %(issuer)s:", issuer=tenant.issuer),
            "\n".join(counts),
            "\n".join(line_of(event) for event in shown),
            *((_("Further events that this mail leaves out: %(number)s.", number=left),) if left else ()),
            _("You get this mail because of the webhook %(name)s.", name=webhook.name),
        ),
        language.tag,
    )
