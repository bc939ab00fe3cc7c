"""Attributes of SCIM resources, for reading, writing and describing documents.

RFC 7643 §4.1 to §4.3 without attributes that the provider cannot use. Names are case-insensitive: RFC 7643 §2.1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group"
ENTERPRISE_SCHEMA = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


class AttributeType(StrEnum):
    STRING = "string"
    BOOLEAN = "boolean"
    DATE_TIME = "dateTime"
    REFERENCE = "reference"
    COMPLEX = "complex"


class Mutability(StrEnum):
    READ_ONLY = "readOnly"
    READ_WRITE = "readWrite"
    IMMUTABLE = "immutable"
    WRITE_ONLY = "writeOnly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """`returned` is `always`, `default` or `never`, `uniqueness` `none` or `server`."""

    name: str
    text: str
    type: AttributeType = AttributeType.STRING
    is_multi_valued: bool = False
    is_required: bool = False
    is_case_exact: bool = False
    mutability: Mutability = Mutability.READ_WRITE
    returned: str = "default"
    uniqueness: str = "none"
    parts: tuple["Attribute", ...] = ()

    @property
    def is_list_of_objects(self) -> bool:
        return self.is_multi_valued and self.type is AttributeType.COMPLEX

    def part(self, name: str) -> "Attribute | None":
        return _named(self.parts, name)


@dataclass(frozen=True, slots=True)
class Schema:
    """Attributes of a schema; `extension` is that of another one, which a resource holds as a member with its URN."""

    urn: str
    name: str
    text: str
    attributes: tuple[Attribute, ...]
    extension: "Schema | None" = None

    def attribute(self, name: str) -> Attribute | None:
        return _named(self.attributes, name) or _named(COMMON, name)

    @property
    def urns(self) -> tuple[str, ...]:
        return (self.urn,) if self.extension is None else (self.urn, self.extension.urn)


def _named(attributes: Iterable[Attribute], name: str) -> Attribute | None:
    key = name.lower()
    return next((attribute for attribute in attributes if attribute.name.lower() == key), None)


def _value(text: str) -> tuple[Attribute, ...]:
    """Sub-attributes of a multi-valued attribute: RFC 7643 §2.4."""
    return (
        Attribute(name="value", text=text),
        Attribute(name="display", text="Display name."),
        Attribute(name="type", text="Label, like work or home."),
        Attribute(name="primary", text="Whether it is the preferred one.", type=AttributeType.BOOLEAN),
    )


def _texts(**texts: str) -> tuple[Attribute, ...]:
    return tuple(Attribute(name=name, text=text) for name, text in texts.items())


def _complex(
    name: str,
    text: str,
    *parts: Attribute,
    is_multi_valued: bool = True,
    mutability: Mutability = Mutability.READ_WRITE,
) -> Attribute:
    return Attribute(
        name=name,
        text=text,
        type=AttributeType.COMPLEX,
        is_multi_valued=is_multi_valued,
        mutability=mutability,
        parts=parts,
    )


def _read_only(name: str, text: str, kind: AttributeType = AttributeType.STRING) -> Attribute:
    return Attribute(name=name, text=text, type=kind, mutability=Mutability.READ_ONLY)


COMMON = (
    Attribute(name="schemas", text="URNs of the schemas.", is_multi_valued=True, returned="always"),
    Attribute(
        name="id",
        text="Identifier that the server assigns.",
        is_case_exact=True,
        mutability=Mutability.READ_ONLY,
        returned="always",
        uniqueness="server",
    ),
    Attribute(name="externalId", text="Identifier at the client.", is_case_exact=True),
    _complex(
        "meta",
        "Facts about the resource.",
        _read_only("resourceType", "Type of the resource."),
        _read_only("created", "Time of its creation.", AttributeType.DATE_TIME),
        _read_only("lastModified", "Time of its last change.", AttributeType.DATE_TIME),
        _read_only("location", "Its address.", AttributeType.REFERENCE),
        _read_only("version", "Its version."),
        is_multi_valued=False,
        mutability=Mutability.READ_ONLY,
    ),
)
"""RFC 7643 §3.1."""

ENTERPRISE = Schema(
    ENTERPRISE_SCHEMA,
    "EnterpriseUser",
    "Enterprise user",
    (
        *_texts(
            employeeNumber="Number in the organization.",
            costCenter="Cost centre.",
            organization="Organization.",
            division="Division.",
            department="Department.",
        ),
        _complex(
            "manager",
            "The user's manager.",
            *_texts(value="Id of the manager."),
            Attribute(name="$ref", text="Address of the manager.", type=AttributeType.REFERENCE),
            *_texts(displayName="Name of the manager."),
            is_multi_valued=False,
        ),
    ),
)

USER = Schema(
    USER_SCHEMA,
    "User",
    "User account",
    (
        Attribute(name="userName", text="Name of the account.", is_required=True, uniqueness="server"),
        _complex(
            "name",
            "Parts of the user's name.",
            *_texts(
                formatted="Full name.",
                familyName="Family name.",
                givenName="Given name.",
                middleName="Middle names.",
                honorificPrefix="Title before the name.",
                honorificSuffix="Suffix behind the name.",
            ),
            is_multi_valued=False,
        ),
        *_texts(
            displayName="Display name.",
            nickName="Casual name.",
            profileUrl="Address of a page about the user.",
            title="Title in the organization.",
            userType="Relation to the organization.",
            preferredLanguage="Language of mails and pages.",
            locale="Locale.",
            timezone="Time zone.",
        ),
        Attribute(name="active", text="Whether the user may sign in.", type=AttributeType.BOOLEAN),
        Attribute(
            name="password",
            text="Password.",
            is_case_exact=True,
            mutability=Mutability.WRITE_ONLY,
            returned="never",
        ),
        _complex("emails", "E-mail addresses; the primary one is that of the account.", *_value("Address.")),
        _complex("phoneNumbers", "Telephone numbers.", *_value("Number.")),
        _complex(
            "addresses",
            "Postal addresses.",
            *_texts(
                formatted="Whole address.",
                streetAddress="Street and number.",
                locality="City.",
                region="State or region.",
                postalCode="Postal code.",
                country="Country.",
                type="Label, like work or home.",
            ),
            Attribute(name="primary", text="Whether it is the preferred one.", type=AttributeType.BOOLEAN),
        ),
        _complex(
            "groups",
            "Groups of the user.",
            _read_only("value", "Id of the group."),
            _read_only("$ref", "Address of the group.", AttributeType.REFERENCE),
            _read_only("display", "Name of the group."),
            _read_only("type", "Always direct."),
            mutability=Mutability.READ_ONLY,
        ),
    ),
    ENTERPRISE,
)

GROUP = Schema(
    GROUP_SCHEMA,
    "Group",
    "Group of users",
    (
        Attribute(name="displayName", text="Name of the group.", is_required=True, uniqueness="server"),
        _complex(
            "members",
            "Users of the group.",
            Attribute(
                name="value", text="Id of the user.", is_case_exact=True, mutability=Mutability.IMMUTABLE
            ),
            Attribute(
                name="$ref",
                text="Address of the user.",
                type=AttributeType.REFERENCE,
                mutability=Mutability.IMMUTABLE,
            ),
            Attribute(name="type", text="Always User.", mutability=Mutability.IMMUTABLE),
            Attribute(name="display", text="Name of the user.", mutability=Mutability.READ_ONLY),
        ),
    ),
)

SCHEMAS: Mapping[str, Schema] = {schema.urn: schema for schema in (USER, GROUP, ENTERPRISE)}
