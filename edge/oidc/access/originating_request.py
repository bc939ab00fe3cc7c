"""The authorization request of the sign-in page from which a user came to the registration page.

Its parameters are passed along in links between the two pages. The links lead to our own endpoints only, which validate
the parameters again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlencode

from edge.oidc.prefix import PREFIX
from gnomon.identity.v1 import authorization_service_pb2 as pb

# A request line has room for this much.
_LONGEST_QUERY = 6000


@dataclass(frozen=True, slots=True)
class OriginatingRequest:
    """Without parameters there is no sign-in page to return to."""

    parameters: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of_page(cls, page: pb.SignInPage) -> "OriginatingRequest":
        return cls(tuple((parameter.name, parameter.value) for parameter in page.registration))

    @classmethod
    def of_query(cls, parameters: Iterable[tuple[str, str]]) -> "OriginatingRequest":
        return cls(tuple(parameters))

    @property
    def client_id(self) -> str:
        return next((value for name, value in self.parameters if name == "client_id"), "")

    @property
    def is_request(self) -> bool:
        """Whether the parameters are an authorization request that can be repeated."""
        names = {name for name, _ in self.parameters}
        return names >= {"client_id", "redirect_uri", "response_type"}

    def registration_address(self, path: str) -> str:
        """Return the address of the registration page below the issuer's path."""
        query = urlencode(self.parameters)
        if len(query) > _LONGEST_QUERY:
            query = urlencode({"client_id": self.client_id})
        return f"{path}/users/register{'?' if query else ''}{query}"

    def sign_in_address(self, path: str, **more: str) -> str:
        """Return the address of the sign-in page; of the entry page when there is none to return to."""
        if not self.is_request:
            return f"{PREFIX}/"
        replaced = [(name, value) for name, value in self.parameters if name not in more]
        return f"{path}/oidc/authorize?{urlencode([*replaced, *more.items()])}"
