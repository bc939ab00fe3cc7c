"""Composes the delivery of mails."""

from collections.abc import Coroutine, Iterator

from identity.delivery.mail.config import EmailConfig
from identity.delivery.mail.directory import LetterDirectory
from identity.delivery.mail.letter_sender import LetterSender, MailServer
from identity.delivery.mail.queued_letter import QUEUED_LETTERS, LetterSafe, QueuedLetter
from identity.delivery.mail.smtp import SmtpServer
from identity.delivery.retry_queue import RetryQueue
from identity.wiring.dependencies import Dependencies


def mailing(ground: Dependencies) -> Iterator[Coroutine[None, None, None]]:
    """Return background loops that run while the provider runs; none without mail."""
    if ground.config.email.is_set:
        yield _letters(ground).run(ground.tenants.all)


def _letters(ground: Dependencies) -> RetryQueue[QueuedLetter]:
    config = ground.config.email
    handler = LetterSender(
        _server(config),
        LetterSafe(ground.master_keys),
        sender=config.from_address,
        events=ground.events,
        clock=ground.clock,
    )
    return RetryQueue(
        "letter",
        ground.store.of(QUEUED_LETTERS),
        handler,
        clock=ground.clock,
        randomness=ground.randomness,
        policy=config,
    )


def _server(config: EmailConfig) -> MailServer:
    return SmtpServer(config) if config.directory is None else LetterDirectory(config.directory)
