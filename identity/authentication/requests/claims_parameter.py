"""The claims parameter: OpenID Connect Core 1.0 §5.5."""

import msgspec

from identity.foundation.errors import InvalidRequest
from server.platform.json_members import expect_unique_members


class ClaimRequest(msgspec.Struct, frozen=True):
    """A requested claim, with the requested values."""

    essential: bool = False
    value: msgspec.Raw = msgspec.Raw(b"null")
    values: tuple[msgspec.Raw, ...] = ()


class ClaimsRequest(msgspec.Struct, frozen=True):
    """Requested claims of the ID token and of userinfo; None stands for a claim without conditions."""

    userinfo: dict[str, ClaimRequest | None] | None = None
    id_token: dict[str, ClaimRequest | None] | None = None


def parse(text: str) -> ClaimsRequest:
    """Read the parameter; raises InvalidRequest."""
    try:
        request = msgspec.json.decode(text, type=ClaimsRequest)
        expect_unique_members(text.encode())
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise InvalidRequest("claims is not a claims request") from error
    return request


def subject_of(text: str) -> str:
    """Return the subject that the ID token must have, empty for any; raises InvalidRequest."""
    asked = (parse(text).id_token or {}).get("sub")
    if asked is None:
        return ""
    try:
        return msgspec.json.decode(asked.value, type=str | None) or ""
    except msgspec.MsgspecError as error:
        raise InvalidRequest("the requested sub is not a string") from error
