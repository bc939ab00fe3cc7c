"""The browser that asks."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """`cookie` is the value of its session cookie, `csrf_token` what its page sent; both are empty without one.

    `remembered_factor` is what it keeps since it showed a passkey.
    """

    cookie: str = field(default="", repr=False)
    csrf_token: str = field(default="", repr=False)
    peer_address: str = ""
    remembered_factor: str = field(default="", repr=False)
