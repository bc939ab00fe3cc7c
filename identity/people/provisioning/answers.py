"""Answers of the services: resources, pages and the requested parts of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from identity.people.provisioning.documents import Members

LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse"

DEFAULT_COUNT = 100
MOST_COUNT = 200


@dataclass(frozen=True, slots=True)
class Projection:
    """Names of attributes: only these, or all except the excluded ones."""

    attributes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


WHOLE = Projection()


@dataclass(frozen=True, slots=True)
class Answer:
    """A resource; the version is empty for one without."""

    members: Members
    location: str
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """`start` counts from 1: RFC 7644 §3.4.2.4."""

    filter: str = ""
    sort_by: str = ""
    is_descending: bool = False
    start: int = 1
    count: int = DEFAULT_COUNT
    projection: Projection = WHOLE


def page(resources: Sequence[Members], *, total: int, start: int) -> Members:
    return {
        "schemas": [LIST_SCHEMA],
        "totalResults": total,
        "startIndex": start,
        "itemsPerPage": len(resources),
        "Resources": list(resources),
    }
