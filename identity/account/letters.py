"""What people are written when they change their address."""

from datetime import datetime

from identity.mail.letter import Letter


def confirm_address(to: str, link: str, until: datetime) -> Letter:
    return Letter(
        to,
        "Confirm your new address",
        f"""Somebody, hopefully you, wants to sign in with the address {to} from now on.

To confirm that it is yours, open this address:

{link}

It is good once, until {until:%Y-%m-%d %H:%M} UTC.

If you did not ask for it, ignore this letter.
""",
    )


def address_about_to_change(to: str, address: str, not_me: str) -> Letter:
    return Letter(
        to,
        "Your address is about to change",
        f"""Somebody who is signed in to your account, hopefully you, wants to change its address

from {to}
to   {address}

It changes as soon as the new address is confirmed.

If this was not you, open this address, which ends all your sessions and cancels the change:

{not_me}
""",
    )
