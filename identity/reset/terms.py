"""What a link that leads to a password was issued for."""

from dataclasses import dataclass

import msgspec

from identity.links.link import Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Good for the account while its address is `email`; then the person goes on at `redirect_uri`, empty for nowhere."""

    email: str
    redirect_uri: str = ""

    def text(self) -> str:
        return msgspec.json.encode(self).decode()


def terms_of(link: Link) -> Terms:
    return msgspec.json.decode(link.value, type=Terms)
