"""The browser of a request."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """`cookie` is the session cookie, `csrf_token` the token that its page sent; both are empty when missing.

    `remembered_factor` is the cookie of a remembered browser, `device` the one that recognizes the browser.
    """

    cookie: str = field(default="", repr=False)
    csrf_token: str = field(default="", repr=False)
    peer_address: str = ""
    remembered_factor: str = field(default="", repr=False)
    device: str = field(default="", repr=False)
    user_agent: str = ""
