"""What people are written about their links."""

from datetime import datetime

from identity.mail.letter import Letter


def forgotten_password(to: str, link: str, until: datetime) -> Letter:
    return Letter(
        to,
        "Choose a new password",
        f"""Somebody, hopefully you, asked for a new password for the account of {to}.

To choose one, open this address in the browser that you want to use:

{link}

It is good once, until {_when(until)}.

If you did not ask for it, ignore this letter: your password stays as it is.
""",
    )


def signed_in_elsewhere(to: str, sign_in: str) -> Letter:
    return Letter(
        to,
        "You have no password here",
        f"""Somebody, hopefully you, asked for a new password for the account of {to}.

This account has none: another provider signs you in. Begin here, and choose it:

{sign_in}

If you did not ask for it, ignore this letter.
""",
    )


def first_password(to: str, link: str, until: datetime) -> Letter:
    return Letter(
        to,
        "Your new account",
        f"""An account was made for you, with the address {to}.

To choose a password, or to use a passkey instead, open this address in the browser that you want to use:

{link}

It is good once, until {_when(until)}. After that, use "Forgot password?" on the sign-in page.
""",
    )


def company_account(to: str, sign_in: str) -> Letter:
    return Letter(
        to,
        "Your new account",
        f"""An account was made for you, with the address {to}.

Your organization signs you in. Begin here:

{sign_in}
""",
    )


def _when(until: datetime) -> str:
    return f"{until:%Y-%m-%d %H:%M} UTC"
