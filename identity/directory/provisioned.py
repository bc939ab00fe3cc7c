"""Values of an account that come from a provisioning client."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """Texts are empty without a value; `user_name` is spelled as the client spells it.

    `document` has the attributes that mean nothing to the provider and go back to the client: JSON of a SCIM resource.
    """

    user_name: str = ""
    external_id: str = ""
    display_name: str = ""
    document: str = ""
