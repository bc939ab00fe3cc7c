"""PATCH of documents: RFC 7644 §3.5.2 and dialects of clients."""

from typing import Any

import pytest

from identity.people.provisioning.attributes import ENTERPRISE_SCHEMA, USER
from identity.people.provisioning.patches import PATCH_SCHEMA, changes, patched
from server.platform.errors import InvalidArgument

WORK = {"value": "a@example.com", "type": "work", "primary": True}
HOME = {"value": "b@example.com", "type": "home"}


def after(members: dict[str, Any], *operations: object) -> dict[str, Any]:
    document = {"schemas": [PATCH_SCHEMA], "Operations": list(operations)}
    return patched(members, changes(document, USER), USER)


def refused(members: dict[str, Any], *operations: object) -> str:
    with pytest.raises(InvalidArgument) as error:
        after(members, *operations)
    return error.value.metadata["scim_type"]


def test_add_appends_values_that_are_new_and_gives_them_the_place_of_the_primary_one() -> None:
    new = {"value": "c@example.com", "type": "other", "primary": True}

    found = after({"emails": [WORK]}, {"op": "add", "path": "emails", "value": [HOME, WORK, new]})

    assert found["emails"] == [{**WORK, "primary": False}, HOME, new]


def test_add_merges_complex_attributes() -> None:
    found = after(
        {"name": {"givenName": "Ada"}}, {"op": "ADD", "path": "NAME", "value": {"familyname": "Byron"}}
    )

    assert found["name"] == {"givenName": "Ada", "familyName": "Byron"}


def test_replace_of_a_list_replaces_all_values() -> None:
    assert after({"emails": [WORK]}, {"op": "replace", "path": "emails", "value": [HOME]})["emails"] == [HOME]


def test_replace_by_null_removes() -> None:
    assert after({"title": "x"}, {"op": "replace", "path": "title", "value": None}) == {}


def test_a_filter_chooses_the_values_that_change() -> None:
    members = {"emails": [WORK, HOME]}

    found = after(
        members, {"op": "replace", "path": 'emails[type eq "home"].value', "value": "c@example.com"}
    )

    assert found["emails"] == [WORK, {**HOME, "value": "c@example.com"}]
    assert members["emails"] == [WORK, HOME]


def test_add_by_a_filter_that_nothing_meets_makes_the_value() -> None:
    found = after({}, {"op": "Add", "path": 'phoneNumbers[type eq "fax"].value', "value": "1"})

    assert found["phoneNumbers"] == [{"type": "fax", "value": "1"}]


def test_remove_by_a_filter() -> None:
    assert after({"emails": [WORK, HOME]}, {"op": "remove", "path": 'emails[type eq "home"]'}) == {
        "emails": [WORK]
    }
    assert after({"emails": [HOME]}, {"op": "remove", "path": "emails[type pr]"}) == {}


def test_operations_apply_one_after_another() -> None:
    found = after(
        {},
        {"op": "add", "path": "title", "value": "a"},
        {"op": "remove", "path": "title"},
        {"op": "add", "value": {"title": "b"}},
    )

    assert found == {"title": "b"}


def test_attributes_of_the_extension_have_its_urn_before_them() -> None:
    found = after(
        {},
        {"op": "add", "path": f"{ENTERPRISE_SCHEMA}:employeeNumber", "value": 701984},
        {"op": "add", "value": {ENTERPRISE_SCHEMA: {"division": "Theme Park"}}},
    )

    assert found == {ENTERPRISE_SCHEMA: {"employeeNumber": "701984", "division": "Theme Park"}}
    assert after(found, {"op": "remove", "path": ENTERPRISE_SCHEMA}) == {}


def test_unknown_and_read_only_members_of_a_value_are_passed_over() -> None:
    assert after({}, {"op": "replace", "value": {"id": "x", "favouriteColour": "red", "title": "y"}}) == {
        "title": "y"
    }


@pytest.mark.parametrize(
    ("scim_type", "operation"),
    [
        ("noTarget", {"op": "replace", "path": 'emails[type eq "other"].value', "value": "x"}),
        ("noTarget", {"op": "remove"}),
        ("mutability", {"op": "replace", "path": "id", "value": "x"}),
        ("mutability", {"op": "add", "path": "groups", "value": [{"value": "x"}]}),
        ("mutability", {"op": "remove", "path": "userName"}),
        ("invalidPath", {"op": "add", "path": "favouriteColour", "value": "red"}),
        ("invalidPath", {"op": "add", "path": "name.nose", "value": "x"}),
        ("invalidPath", {"op": "add", "path": "emails[type eq].value", "value": "x"}),
        ("invalidPath", {"op": "add", "path": 'title[value eq "x"]', "value": "x"}),
        ("invalidPath", {"op": "add", "path": ["title"], "value": "x"}),
        ("invalidSyntax", {"op": "move", "path": "title", "value": "x"}),
        ("invalidValue", {"op": "add", "path": "title"}),
        ("invalidValue", {"op": "add", "path": "active", "value": "perhaps"}),
        ("invalidValue", {"op": "add", "path": "title", "value": {"a": 1}}),
        ("invalidValue", {"op": "add", "path": "emails", "value": [{"value": str(n)} for n in range(21)]}),
        ("invalidSyntax", "add"),
    ],
)
def test_operations_are_refused_with_the_keyword_of_the_standard(scim_type: str, operation: object) -> None:
    assert scim_type == refused({"userName": "a", "emails": [WORK]}, operation)


def test_a_request_without_its_schema_or_operations_is_refused() -> None:
    for document in ({"Operations": [{"op": "remove", "path": "title"}]}, {"schemas": [PATCH_SCHEMA]}):
        with pytest.raises(InvalidArgument):
            changes(document, USER)
