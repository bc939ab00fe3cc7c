"""Composes what carries letters."""

from collections.abc import Coroutine, Iterator

from identity.errands import Errands
from identity.ground import Ground
from identity.mail.carrier import LetterCarrier, MailServer
from identity.mail.config import EmailConfig
from identity.mail.directory import LetterDirectory
from identity.mail.queued_letter import QUEUED_LETTERS, LetterSafe, QueuedLetter
from identity.mail.smtp import SmtpServer


def mailing(ground: Ground) -> Iterator[Coroutine[None, None, None]]:
    """What runs for as long as the provider does: nothing without mail."""
    if ground.config.email.is_set:
        yield _letters(ground).run(ground.tenants.all)


def _letters(ground: Ground) -> Errands[QueuedLetter]:
    config = ground.config.email
    carrier = LetterCarrier(
        _server(config),
        LetterSafe(ground.master_keys),
        sender=config.from_address,
        events=ground.events,
        clock=ground.clock,
    )
    return Errands(
        "letter",
        ground.store.of(QUEUED_LETTERS),
        carrier,
        clock=ground.clock,
        randomness=ground.randomness,
        patience=config,
    )


def _server(config: EmailConfig) -> MailServer:
    return SmtpServer(config) if config.directory is None else LetterDirectory(config.directory)
