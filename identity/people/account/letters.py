"""Messages about a change of the email address."""

from datetime import datetime

from identity.delivery.mail.letter import Letter


def confirm_address(to: str, link: str, until: datetime) -> Letter:
    return Letter(
        to,
        "Confirm your new email address",
        f"""Hello,

We received a request to use {to} as the email address of an account.

To confirm that the address is yours, open this link and press the button there:

{link}

The link works once and expires at {until:%Y-%m-%d %H:%M} UTC.

If you did not request this, ignore this message.
""",
    )


def address_about_to_change(to: str, address: str, not_me: str) -> Letter:
    return Letter(
        to,
        "Your email address is about to change",
        f"""Hello,

We received a request to change the email address of your account

from {to}
to   {address}

The address changes as soon as the new one is confirmed.

If this was not you, open this link. It ends all your sessions and cancels the change:

{not_me}
""",
    )
