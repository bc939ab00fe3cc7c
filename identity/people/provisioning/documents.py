"""Documents of clients and for clients: names in the schema's spelling, values of its types, requested attributes.

Unknown attributes are ignored, because clients send attributes of schemas that the server does not have.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from identity.people.provisioning.attributes import Attribute, AttributeType, Schema
from identity.people.provisioning.refusals import ScimType, refusal
from server.platform.errors import InvalidArgument
from server.platform.json_members import expect_unique_members

Members = dict[str, object]

MOST_CHARACTERS = 1024
MOST_VALUES = 20
MOST_MEMBERS = 10_000
_BOOLEANS = {"true": True, "false": False}


def read(document: bytes) -> Members:
    """Raises InvalidArgument with `invalidSyntax`."""
    try:
        found = msgspec.json.decode(document)
        expect_unique_members(document)
        _expect_one_case(found)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise refusal(ScimType.INVALID_SYNTAX, "expected a JSON object") from error
    return an_object(found)


def _expect_one_case(value: object) -> None:
    """Expect no names that differ in their case only, because names are compared without it: RFC 7643 §2.1."""
    if isinstance(value, dict):
        if len({name.lower() for name in value}) < len(value):
            raise ValueError("expected each member of an object once")
        for each in value.values():
            _expect_one_case(each)
    elif isinstance(value, list):
        for each in value:
            _expect_one_case(each)


def an_object(value: object) -> Members:
    if not isinstance(value, dict):
        raise refusal(ScimType.INVALID_SYNTAX, "expected a JSON object")
    return value


def member(members: Mapping[str, object], name: str) -> object:
    """Return the member with this name in any case, None without one."""
    return next((value for key, value in members.items() if key.lower() == name.lower()), None)


def expect_schema(members: Mapping[str, object], urn: str) -> None:
    """RFC 7643 §3: every document names its schema."""
    schemas = member(members, "schemas")
    found = schemas if isinstance(schemas, list) else []
    if urn.lower() not in {name.lower() for name in found if isinstance(name, str)}:
        raise refusal(ScimType.INVALID_SYNTAX, f"schemas: expected {urn}")


def normalized(members: Mapping[str, object], schema: Schema) -> Members:
    """Return the known attributes that have a value; raises InvalidArgument with `invalidValue`."""
    found: Members = {}
    for key, value in members.items():
        extension = schema.extension
        if extension is not None and key.lower() == extension.urn.lower():
            inner = {} if value is None else normalized(an_object(value), extension)
            if inner:
                found[extension.urn] = inner
        elif (attribute := schema.attribute(key)) is not None and attribute.name not in {
            "schemas",
            "id",
            "meta",
        }:
            normal = value_of(attribute, value)
            if normal is not None:
                found[attribute.name] = normal
    return found


def value_of(attribute: Attribute, value: object) -> object:
    """Return a value in the attribute's type, None for an unassigned one; raises InvalidArgument."""
    if value is None or value in ([], {}):
        return None
    if attribute.is_multi_valued:
        values = value if isinstance(value, list) else [value]
        most = MOST_MEMBERS if attribute.name == "members" else MOST_VALUES
        if len(values) > most:
            raise refusal(ScimType.INVALID_VALUE, f"{attribute.name}: expected at most {most} values")
        found = [single for each in values if (single := _single(attribute, each)) is not None]
        return found or None
    return _single(attribute, value)


def _single(attribute: Attribute, value: object) -> object:
    if attribute.type is AttributeType.COMPLEX:
        return _complex(attribute, value)
    if attribute.type is AttributeType.BOOLEAN:
        return _boolean(attribute, value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise _wrong(attribute, "a text")
    if len(value) > MOST_CHARACTERS or "\0" in value:
        raise _wrong(attribute, f"at most {MOST_CHARACTERS} characters, without NUL")
    return value


def _complex(attribute: Attribute, value: object) -> Members | None:
    if isinstance(value, str) and attribute.part("value") is not None:
        # Some clients send the plain value.
        return {"value": value_of(attribute.parts[0], value)}
    if not isinstance(value, dict):
        raise _wrong(attribute, "an object")
    found: Members = {}
    for key, inner in value.items():
        part = attribute.part(key)
        normal = None if part is None else value_of(part, inner)
        if part is not None and normal is not None:
            found[part.name] = normal
    return found or None


def _boolean(attribute: Attribute, value: object) -> bool:
    if isinstance(value, bool):
        return value
    # Entra ID sends "True" and "False".
    if isinstance(value, str) and value.lower() in _BOOLEANS:
        return _BOOLEANS[value.lower()]
    raise _wrong(attribute, "true or false")


def _wrong(attribute: Attribute, expected: str) -> InvalidArgument:
    return refusal(ScimType.INVALID_VALUE, f"{attribute.name}: expected {expected}")


def texts(value: object) -> list[Members]:
    """Return the values of a multi-valued attribute, none without one."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text(members: Mapping[str, object], name: str) -> str:
    value = members.get(name)
    return value if isinstance(value, str) else ""


def projected(
    members: Members, schema: Schema, *, attributes: Sequence[str], excluded: Sequence[str]
) -> Members:
    """Return the requested attributes: RFC 7644 §3.9."""
    if attributes:
        return _only(members, schema, _paths(attributes, schema))
    if excluded:
        return _without(members, schema, _paths(excluded, schema))
    return members


def wants(name: str, schema: Schema, *, attributes: Sequence[str], excluded: Sequence[str]) -> bool:
    """Whether an answer has an attribute."""
    key = name.lower()
    if attributes:
        return any(path.partition(".")[0] == key for path in _paths(attributes, schema))
    return key not in _paths(excluded, schema)


def _paths(names: Sequence[str], schema: Schema) -> Collection[str]:
    """Return the paths in lower case without the URN of the schema; those of an extension have a colon behind its URN."""
    prefix = f"{schema.urn.lower()}:"
    return frozenset(name.strip().lower().removeprefix(prefix) for name in names)


def _only(members: Members, schema: Schema, paths: Collection[str]) -> Members:
    found: Members = {}
    for name, value in members.items():
        if name.lower() in paths or _is_always_returned(name, schema):
            found[name] = value
        elif parts := _below(name.lower(), paths, schema):
            found[name] = _parts(value, parts, is_wanted=True)
    return found


def _without(members: Members, schema: Schema, paths: Collection[str]) -> Members:
    found: Members = {}
    for name, value in members.items():
        if _is_always_returned(name, schema):
            found[name] = value
        elif name.lower() not in paths:
            found[name] = _parts(value, _below(name.lower(), paths, schema), is_wanted=False)
    return found


def _is_always_returned(name: str, schema: Schema) -> bool:
    attribute = schema.attribute(name)
    return attribute is not None and attribute.returned == "always"


def _below(key: str, paths: Collection[str], schema: Schema) -> Collection[str]:
    """Return the parts of an attribute, or the attributes of an extension, that the paths name."""
    is_extension = schema.extension is not None and key == schema.extension.urn.lower()
    prefix = f"{key}:" if is_extension else f"{key}."
    return frozenset(path.removeprefix(prefix) for path in paths if path.startswith(prefix))


def _parts(value: object, parts: Collection[str], *, is_wanted: bool) -> object:
    """Return the value with these parts alone, or without them."""
    if isinstance(value, list):
        return [_parts(each, parts, is_wanted=is_wanted) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: each for name, each in value.items() if (name.lower() in parts) is is_wanted}
