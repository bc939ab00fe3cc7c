"""Hands letters to a mail server: RFC 5321, by TLS or STARTTLS with its certificate checked."""

import logging
from email.message import EmailMessage
from email.utils import parseaddr

import aiosmtplib

from identity.mail.carrier import Reception
from identity.mail.config import EmailConfig, SmtpSecurity

logger = logging.getLogger(__name__)

_PERMANENT = range(500, 600)


class SmtpServer:
    """A connection for each letter."""

    def __init__(self, config: EmailConfig) -> None:
        self._config = config
        # Our name in the greeting: the host's own is nobody's business.
        self._domain = parseaddr(config.from_address)[1].rpartition("@")[2]

    async def send(self, letter_id: str, message: EmailMessage) -> Reception:
        config = self._config
        try:
            await aiosmtplib.send(
                message,
                hostname=config.smtp_host,
                port=config.smtp_port,
                username=config.smtp_username or None,
                password=config.smtp_password or None,
                local_hostname=self._domain,
                timeout=config.timeout_secs,
                use_tls=config.smtp_security is SmtpSecurity.TLS,
                start_tls=config.smtp_security is SmtpSecurity.STARTTLS,
            )
        except (aiosmtplib.SMTPException, OSError, TimeoutError, ValueError) as error:
            reception = _reception(error)
            # What the server says may repeat the letter's address.
            logger.warning(
                "the mail server did not take a letter",
                extra={
                    "letter_id": letter_id,
                    "error": type(error).__name__,
                    "reception": reception.name.lower(),
                },
            )
            return reception
        return Reception.TAKEN


def _reception(error: Exception) -> Reception:
    # A refused login or sender is the operator's to mend: those letters are good.
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        codes = [refused.code for refused in error.recipients]
    elif isinstance(error, aiosmtplib.SMTPDataError | aiosmtplib.SMTPRecipientRefused):
        codes = [error.code]
    else:
        codes = []
    return Reception.REFUSED if codes and all(code in _PERMANENT for code in codes) else Reception.AWAY
