"""The e-mail address and the redirect URI for which a link was issued."""

from dataclasses import dataclass

import msgspec

from identity.directory.links.link import Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The link is valid while the account has the address `email`; `redirect_uri` may be empty."""

    email: str
    redirect_uri: str = ""

    def text(self) -> str:
        return msgspec.json.encode(self).decode()


def terms_of(link: Link) -> Terms:
    return msgspec.json.decode(link.value, type=Terms)
