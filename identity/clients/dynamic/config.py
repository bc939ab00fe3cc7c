"""The section of the configuration file about dynamic client registration."""

import re
from dataclasses import dataclass, field

# Characters of a bearer token in an Authorization header: RFC 6750 §2.1.
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]{1,1024}=*")


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicClientsConfig:
    """[dynamic_clients]: dynamic client registration, RFC 7591, with `reg_token`, or open to anybody without it.

    With `metadata_documents` a client id can be the https address of a document that describes the client. The provider
    fetches such documents, and addresses that a client registers, within the bounds of `outgoing.allowed_networks`.
    """

    enabled: bool = False
    metadata_documents: bool = False
    reg_token: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.reg_token and _TOKEN.fullmatch(self.reg_token) is None:
            raise ValueError("dynamic_clients.reg_token: expected letters, digits and -._~+/ alone")
