"""Filters of RFC 7644 §3.4.2.2: grammar, bounds and meaning."""

from typing import Any

import pytest

from identity.people.provisioning import filters
from identity.people.provisioning.comparison import matches
from identity.people.provisioning.filters import Compare, Comparison
from server.platform.errors import InvalidArgument

BJENSEN: dict[str, Any] = {
    "id": "2819c223",
    "externalId": "Bjensen",
    "userName": "bjensen@example.com",
    "title": "Tour Guide",
    "userType": "Employee",
    "active": True,
    "name": {"familyName": "O'Malley"},
    "emails": [
        {"value": "bjensen@example.com", "type": "work", "primary": True},
        {"value": "babs@jensen.org", "type": "home"},
    ],
    "meta": {"lastModified": "2011-05-13T04:42:34Z"},
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": "Tour Operations"},
}

# The examples of RFC 7644 §3.4.2.2 that apply to one user, and their like.
MET = [
    'userName eq "BJENSEN@example.com"',
    'name.familyName co "O\'Malley"',
    'userName sw "b"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "B"',
    "title pr",
    'meta.lastModified gt "2011-05-13T04:42:33Z"',
    'meta.lastModified ge "2011-05-13T06:42:34+02:00"',
    'meta.lastModified lt "2011-05-13T04:42:35Z"',
    'title pr and userType eq "Employee"',
    'title pr or userType eq "Intern"',
    'userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")',
    'userType ne "Intern" and not (emails co "example.net")',
    'userType eq "Employee" and emails[type eq "work" and value co "@example.com"]',
    'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp"]',
    "ACTIVE EQ true AND Not (title EQ null)",
    'active eq "True"',
    "nickName eq null",
    'externalId eq "Bjensen"',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "tour operations"',
    'emails.value ew ".org"',
    'title gt "A" and title le "tour guide"',
    r'userName ne "quote \" and \\ and ☃"',
]
NOT_MET = [
    'externalId eq "bjensen"',
    'emails[type eq "home" and value co "@example.com"]',
    "nickName pr",
    "active eq false",
    'not (userName sw "b")',
    'title pr and userType eq "Intern" or userName eq "x"',
    'meta.lastModified gt "not a time"',
]
MALFORMED = [
    "",
    "userName",
    "userName eq",
    "userName is 5",
    'userName eq "open',
    "userName eq bare",
    '(userName eq "a"',
    'userName eq "a")',
    'userName eq "a" and',
    'userName eq "a" userName eq "b"',
    "not userName pr",
    'emails[type eq "work"',
    'emails[type eq "work"]].value',
    "1 eq 1",
    'userName eq "\x00"',
    r'userName eq "\u0000"',
    r'userName eq "\x"',
    "and",
    "&",
]


@pytest.mark.parametrize("text", MET)
def test_a_filter_is_met(text: str) -> None:
    assert matches(filters.parse(text), BJENSEN)


@pytest.mark.parametrize("text", NOT_MET)
def test_a_filter_is_not_met(text: str) -> None:
    assert not matches(filters.parse(text), BJENSEN)


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_filter_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        filters.parse(text)

    assert refused.value.metadata["scim_type"] == "invalidFilter"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 17 + "a pr" + ")" * 17,
        "not (" * 1000 + "a pr" + ")" * 1000,
        " and ".join(["a pr"] * 33),
        "a pr or " * 2000 + "a pr",
        f'a eq "{"x" * 257}"',
        "emails[" * 500 + "a pr" + "]" * 500,
    ],
    ids=["depth", "negations", "comparisons", "length", "value", "brackets"],
)
def test_a_filter_beyond_a_bound_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="expected"):
        filters.parse(text)


def test_and_binds_stronger_than_or() -> None:
    assert filters.parse("a pr or b pr and c pr") == filters.Any(
        (
            Compare("a", Comparison.PR),
            filters.All((Compare("b", Comparison.PR), Compare("c", Comparison.PR))),
        )
    )
