"""Letters about a registration.

Anybody can have one sent to anybody. So nothing that was typed into the form stands in it, but for the address itself,
which is its header: no name can be a link, an advertisement or a second header.
"""

from identity.mail.letter import Letter
from identity.tenants import Tenant


def confirmation(tenant: Tenant, email: str, *, link: str, hours: int) -> Letter:
    """For an address that waits to be confirmed by the link."""
    return Letter(
        to=email,
        subject="Confirm your e-mail address",
        text=f"""Hello,

somebody, hopefully you, made an account with this address at {tenant.origin}

To confirm that the address is yours, open this link within {_hours(hours)} and press the button there:

{link}

Earlier messages of this kind are good no more.

If it was not you, do not open the link. You need not do anything else.
""",
    )


def account_exists(tenant: Tenant, email: str) -> Letter:
    """For an address that has an account already."""
    return Letter(
        to=email,
        subject="You have an account already",
        text=f"""Hello,

somebody, perhaps you, wanted to make an account with this address at {tenant.origin}

There is one already, and nothing of it was changed. If it was you, sign in as before.

If it was not you, you need not do anything.
""",
    )


def _hours(hours: int) -> str:
    return "an hour" if hours == 1 else f"{hours} hours"
