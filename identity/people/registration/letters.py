"""Mails about a registration.

Anybody can cause such a mail to any address. So a mail repeats nothing from the form but the address itself, in its
header: no name can become a link, an advertisement or a second header.
"""

from identity.delivery.mail.letter import Letter
from identity.foundation.tenants import Tenant


def confirmation(tenant: Tenant, email: str, *, link: str, hours: int) -> Letter:
    """The mail with the confirmation link."""
    return Letter(
        to=email,
        subject="Confirm your email address",
        text=f"""Hello,

An account was created with this email address at {tenant.origin}

To confirm that the address is yours, open this link within {_hours(hours)} and press the button there:

{link}

Links in earlier messages no longer work.

If you did not create this account, do not open the link. You do not have to do anything else.
""",
    )


def confirmation_of_several(tenant: Tenant, email: str, *, link: str, hours: int) -> Letter:
    """The mail with the confirmation link for an address that several forms registered."""
    return Letter(
        to=email,
        subject="Confirm your email address",
        text=f"""Hello,

This email address was registered more than once at {tenant.origin}

To confirm that the address is yours, open this link within {_hours(hours)} and press the button there:

{link}

You then choose a new password. The passwords that were entered before do not work. Only the link in the latest message works.

If you did not create an account, do not open the link. You do not have to do anything else.
""",
    )


def account_exists(tenant: Tenant, email: str) -> Letter:
    """The mail to an address that already has an account."""
    return Letter(
        to=email,
        subject="You already have an account",
        text=f"""Hello,

Someone tried to create an account with this email address at {tenant.origin}

You already have an account there. It has not changed. If this was you, sign in as usual.

If this was not you, you do not have to do anything.
""",
    )


def _hours(hours: int) -> str:
    return "an hour" if hours == 1 else f"{hours} hours"
