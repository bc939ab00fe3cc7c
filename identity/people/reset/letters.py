"""Mails with links to set a password."""

from datetime import datetime

from identity.delivery.mail.letter import Letter


def forgotten_password(to: str, link: str, until: datetime) -> Letter:
    return Letter(
        to,
        "Choose a new password",
        f"""Hello,

We received a request for a new password for the account {to}.

To choose a new password, open this link in the browser that you want to use:

{link}

The link works once and expires at {_when(until)}.

If you did not request this, ignore this message. Your password stays the same.
""",
    )


def signed_in_elsewhere(to: str, sign_in: str) -> Letter:
    return Letter(
        to,
        "Your account has no password",
        f"""Hello,

We received a request for a new password for the account {to}.

This account has no password, because you sign in with another provider. To sign in, open this page and choose your provider:

{sign_in}

If you did not request this, ignore this message.
""",
    )


def first_password(to: str, link: str, until: datetime) -> Letter:
    return Letter(
        to,
        "Your new account",
        f"""Hello,

An account was created for you with the email address {to}.

To choose a password, or to use a passkey instead, open this link in the browser that you want to use:

{link}

The link works once and expires at {_when(until)}. After that, use "Forgot password?" on the sign-in page.
""",
    )


def company_account(to: str, sign_in: str) -> Letter:
    return Letter(
        to,
        "Your new account",
        f"""Hello,

An account was created for you with the email address {to}.

You sign in through your organization. Start here:

{sign_in}
""",
    )


def _when(until: datetime) -> str:
    return f"{until:%Y-%m-%d %H:%M} UTC"
