"""A pending link of a signed-in user's account to an upstream provider."""

from dataclasses import dataclass, field

from server.platform.records import Kind, Owner, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingLink(Record):
    """`id` is a keyed hash of `state`; `user_id` and `sid` are the user and the session of the browser.

    It is not a pending sign-in, so that no version of the provider can accept its response as one. For a SAML provider
    `nonce` is the id of our request to it.
    """

    provider_id: str
    user_id: str
    sid: str
    nonce: str = field(repr=False)
    code_verifier: str = field(default="", repr=False)


PENDING_LINKS = Kind(
    PendingLink,
    "pending_link",
    owners=(
        Owner("user", "user_id"),
        Owner("provider", "provider_id"),
    ),
)
