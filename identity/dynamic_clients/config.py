"""Whether clients register themselves."""

import re
from dataclasses import dataclass, field

# What may stand in an Authorization header: RFC 6750 §2.1.
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]{1,1024}=*")


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicClientsConfig:
    """[dynamic_clients]: whether clients register themselves, RFC 7591, with `reg_token`; without one anybody may.

    The provider reads addresses that such a client names, within the bounds of `outgoing.allowed_networks`.
    """

    enabled: bool = False
    reg_token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.reg_token and _TOKEN.fullmatch(self.reg_token) is None:
            raise ValueError("dynamic_clients.reg_token: expected letters, digits and -._~+/ alone")
