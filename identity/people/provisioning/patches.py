"""PATCH of a document: RFC 7644 §3.5.2, and the dialects of Entra ID and Okta.

Names of operations have any case; an operation without a path may name paths in the members of its value.
"""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum

from identity.people.provisioning import filters
from identity.people.provisioning.attributes import Attribute, Mutability, Schema
from identity.people.provisioning.comparison import matches
from identity.people.provisioning.documents import (
    Members,
    an_object,
    expect_schema,
    member,
    normalized,
    texts,
    value_of,
)
from identity.people.provisioning.filters import All, Compare, Comparison, Filter
from identity.people.provisioning.refusals import ScimType, refusal
from server.platform.errors import InvalidArgument

PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
MOST_OPERATIONS = 1000

_PATH = re.compile(r"([A-Za-z$][\w$-]*)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?", re.DOTALL)


class Verb(StrEnum):
    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class Target:
    """An attribute or a part of it, or the whole extension; `is_extension` marks parts of an extension."""

    attribute: Attribute | None
    is_extension: bool = False
    condition: Filter | None = None
    part: Attribute | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One operation on one target."""

    verb: Verb
    target: Target
    value: object = None


def changes(document: Members, schema: Schema) -> list[Change]:
    """Read the operations of a request; raises InvalidArgument."""
    expect_schema(document, PATCH_SCHEMA)
    operations = member(document, "Operations")
    if not isinstance(operations, list) or not operations:
        raise refusal(ScimType.INVALID_SYNTAX, "Operations: expected a list of operations")
    if len(operations) > MOST_OPERATIONS:
        raise refusal(ScimType.TOO_MANY, f"Operations: expected at most {MOST_OPERATIONS}")
    return [change for operation in operations for change in _changes(an_object(operation), schema)]


def patched(members: Members, operations: list[Change], schema: Schema) -> Members:
    """Return the document after the operations; raises InvalidArgument."""
    after = deepcopy(members)
    for operation in operations:
        _apply(after, operation, schema)
    return after


def _changes(operation: Members, schema: Schema) -> Iterator[Change]:
    verb = _verb(member(operation, "op"))
    path, value = member(operation, "path"), member(operation, "value")
    if path is None or path == "":
        yield from _without_path(verb, value, schema)
        return
    if not isinstance(path, str):
        raise _no_path("expected a text")
    target = target_of(path, schema)
    _expect_writable(target)
    if verb is not Verb.REMOVE and "value" not in {name.lower() for name in operation}:
        raise refusal(ScimType.INVALID_VALUE, f"{path}: expected a value")
    yield Change(verb, target, value)


def _verb(text: object) -> Verb:
    try:
        return Verb(str(text).lower())
    except ValueError as error:
        raise refusal(ScimType.INVALID_SYNTAX, f"op: expected one of {', '.join(Verb)}") from error


def _without_path(verb: Verb, value: object, schema: Schema) -> Iterator[Change]:
    if verb is Verb.REMOVE:
        # RFC 7644 §3.5.2.2.
        raise refusal(ScimType.NO_TARGET, "remove: expected a path")
    for path, inner in an_object(value).items():
        try:
            target = target_of(path, schema)
        except InvalidArgument:
            # As in a whole resource, unknown attributes are ignored.
            continue
        # Okta repeats the id of the group.
        if target.attribute is None or target.attribute.mutability is not Mutability.READ_ONLY:
            yield Change(verb, target, inner)


def target_of(path: str, schema: Schema) -> Target:
    """Raises InvalidArgument with `invalidPath`."""
    own, is_extension = schema, False
    for urn_schema in filter(None, (schema, schema.extension)):
        if path.lower() == urn_schema.urn.lower() and urn_schema is not schema:
            return Target(None, is_extension=True)
        if path.lower().startswith(f"{urn_schema.urn.lower()}:"):
            own, is_extension = urn_schema, urn_schema is not schema
            path = path[len(urn_schema.urn) + 1 :]
            break
    found = _PATH.fullmatch(path.strip())
    attribute = None if found is None else own.attribute(found[1])
    if found is None or attribute is None or attribute.name == "schemas":
        raise _no_path("expected an attribute of the schema")
    part = attribute.part(found[3]) if found[3] else None
    if found[3] and part is None:
        raise _no_path(f"{attribute.name} has no such part")
    if found[2] is not None and not attribute.is_list_of_objects:
        raise _no_path(f"{attribute.name} has no values to choose among")
    try:
        condition = filters.parse(found[2]) if found[2] is not None else None
    except InvalidArgument as error:
        raise _no_path("the filter in brackets is malformed") from error
    return Target(attribute, is_extension, condition, part)


def _expect_writable(target: Target) -> None:
    attribute = target.attribute
    if attribute is not None and attribute.mutability is Mutability.READ_ONLY:
        raise refusal(ScimType.MUTABILITY, f"{attribute.name}: the server alone writes it")


def _apply(members: Members, change: Change, schema: Schema) -> None:
    target = change.target
    container = members
    if target.is_extension and schema.extension is not None:
        urn = schema.extension.urn
        if target.attribute is None:
            _apply_extension(members, change, schema.extension)
            return
        container = members.setdefault(urn, {})  # type: ignore[assignment]  # the extension is an object
        _apply_attribute(container, change, target.attribute)
        if not container:
            del members[urn]
        return
    if target.attribute is not None:
        _apply_attribute(container, change, target.attribute)


def _apply_extension(members: Members, change: Change, extension: Schema) -> None:
    if change.verb is Verb.REMOVE or change.value is None:
        members.pop(extension.urn, None)
        return
    before = members.get(extension.urn)
    merged = {
        **(before if isinstance(before, dict) else {}),
        **normalized(an_object(change.value), extension),
    }
    members[extension.urn] = merged


def _apply_attribute(container: Members, change: Change, attribute: Attribute) -> None:
    if change.target.condition is not None:
        _apply_among(container, change, attribute, change.target.condition)
    elif change.target.part is not None:
        _apply_part(container, change, attribute, change.target.part)
    elif change.verb is Verb.REMOVE:
        _remove(container, change, attribute)
    else:
        _set(container, change, attribute)


def _remove(container: Members, change: Change, attribute: Attribute) -> None:
    if attribute.is_required:
        raise refusal(ScimType.MUTABILITY, f"{attribute.name}: a resource needs it")
    listed = value_of(attribute, change.value) if attribute.is_list_of_objects else None
    if listed is None:
        container.pop(attribute.name, None)
        return
    # Entra ID names the values instead of a filter.
    gone = [each.get("value") for each in texts(listed)]
    _keep(
        container,
        attribute,
        [each for each in texts(container.get(attribute.name)) if each.get("value") not in gone],
    )


def _set(container: Members, change: Change, attribute: Attribute) -> None:
    value = value_of(attribute, change.value)
    if value is None:
        if change.verb is Verb.REPLACE:
            _remove(container, change, attribute)
        return
    before = container.get(attribute.name)
    if attribute.is_list_of_objects:
        old = texts(before) if change.verb is Verb.ADD else []
        new = [each for each in texts(value) if each not in old]
        container[attribute.name] = [*_yielding(old, new), *new]
    elif isinstance(value, dict) and isinstance(before, dict):
        container[attribute.name] = {**before, **value}
    else:
        container[attribute.name] = value


def _yielding(old: list[Members], new: list[Members]) -> list[Members]:
    """RFC 7643 §2.4: a single value is the primary one; RFC 7644 §3.5.2: a new primary value replaces the old one."""
    if not any(each.get("primary") for each in new):
        return old
    return [{**each, "primary": False} if each.get("primary") else each for each in old]


def _apply_part(container: Members, change: Change, attribute: Attribute, part: Attribute) -> None:
    value = None if change.verb is Verb.REMOVE else value_of(part, change.value)
    before = container.get(attribute.name)
    if attribute.is_list_of_objects:
        values = texts(before) or ([{}] if value is not None else [])
        _keep(container, attribute, [_with(each, part, value) for each in values])
        return
    inner = _with(before if isinstance(before, dict) else {}, part, value)
    if inner:
        container[attribute.name] = inner
    else:
        container.pop(attribute.name, None)


def _apply_among(container: Members, change: Change, attribute: Attribute, condition: Filter) -> None:
    values = texts(container.get(attribute.name))
    below = f"{attribute.name.lower()}."
    chosen = [matches(condition, each, below=below) for each in values]
    if change.verb is Verb.REMOVE:
        part = change.target.part
        rest = [
            each if not is_chosen else _with(each, part, None) if part is not None else {}
            for each, is_chosen in zip(values, chosen, strict=True)
        ]
        _keep(container, attribute, rest)
        return
    if not any(chosen):
        values, chosen = [*values, _wanted(change, attribute, condition)], [*chosen, True]
    changed = [
        _changed(each, change, attribute) if is_chosen else each
        for each, is_chosen in zip(values, chosen, strict=True)
    ]
    _keep(container, attribute, changed)


def _wanted(change: Change, attribute: Attribute, condition: Filter) -> Members:
    """Return the value of an addition: Entra ID adds values by a filter that no value meets yet."""
    if change.verb is Verb.REPLACE:
        # RFC 7644 §3.5.2.3.
        raise refusal(ScimType.NO_TARGET, f"{attribute.name}: no value meets the filter")
    equalities = condition.operands if isinstance(condition, All) else (condition,)
    found: Members = {}
    for each in equalities:
        part = attribute.part(each.path) if isinstance(each, Compare) else None
        if part is None or not isinstance(each, Compare) or each.comparison is not Comparison.EQ:
            raise refusal(ScimType.NO_TARGET, f"{attribute.name}: no value meets the filter")
        found[part.name] = value_of(part, each.value)
    return found


def _changed(value: Members, change: Change, attribute: Attribute) -> Members:
    part = change.target.part
    if part is not None:
        return _with(value, part, value_of(part, change.value))
    new = texts(value_of(attribute, change.value))
    if len(new) != 1:
        raise refusal(ScimType.INVALID_VALUE, f"{attribute.name}: expected one value")
    return {**value, **new[0]}


def _with(value: Mapping[str, object], part: Attribute, inner: object) -> Members:
    rest = {name: each for name, each in value.items() if name != part.name}
    return rest if inner is None else {**rest, part.name: inner}


def _keep(container: Members, attribute: Attribute, values: list[Members]) -> None:
    kept = [each for each in values if each]
    if kept:
        container[attribute.name] = kept
    else:
        container.pop(attribute.name, None)


def _no_path(detail: str) -> InvalidArgument:
    return refusal(ScimType.INVALID_PATH, f"path: {detail}")
