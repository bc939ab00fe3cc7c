"""Validation of types of authorization details: RFC 9396 §2."""

from identity.directory.authorization_details.detail_fields import DetailFields
from identity.directory.labels import AuthorizationDetailsType
from identity.foundation.visible_text import is_visible
from server.platform.errors import InvalidArgument


def expect_type(details_type: AuthorizationDetailsType) -> None:
    """Check the texts that pages show, and the fields. Raises InvalidArgument."""
    for member in ("title", "description"):
        if not is_visible(getattr(details_type, member)):
            raise InvalidArgument(f"{member}: expected visible characters without bidirectional controls")
    DetailFields(details_type.fields)
