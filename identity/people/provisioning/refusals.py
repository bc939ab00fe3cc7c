"""Refusals with the detail error keywords of RFC 7644 §3.12."""

from enum import StrEnum

from server.platform.errors import InvalidArgument


class ScimType(StrEnum):
    INVALID_FILTER = "invalidFilter"
    TOO_MANY = "tooMany"
    MUTABILITY = "mutability"
    INVALID_SYNTAX = "invalidSyntax"
    INVALID_PATH = "invalidPath"
    NO_TARGET = "noTarget"
    INVALID_VALUE = "invalidValue"


def refusal(scim_type: ScimType, detail: str) -> InvalidArgument:
    return InvalidArgument(detail, scim_type=scim_type)
