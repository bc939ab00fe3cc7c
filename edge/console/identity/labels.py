"""Named things of users and clients: groups, roles, scopes and attributes."""

from typing import Final

from edge.console.identity.declarations import Column, Form, FormField, Listing, RecordKind, Source

GROUP_NAMES: Final = Source(rpc="ListGroups", paths=("groups.name",))
ROLE_NAMES: Final = Source(rpc="ListRoles", paths=("roles.name",))
# The provider has permissions of its own, which its built-in roles give.
PERMISSIONS: Final = (Source(), Source(rpc="ListRoles", paths=("roles.permissions",)))
_ATTRIBUTES: Final = Source(rpc="ListUserAttributes", paths=("values.name",))


def _forms(
    noun: str, request: str, fields: tuple[FormField, ...], *, key: str, gone: str
) -> tuple[Form, Form, Form]:
    """Return the forms that create, change and delete; `request` is the name of the record in RPCs."""
    create = Form(
        name="create", rpc=f"Create{request}", button=f"Create {noun}", done="created", fields=fields
    )
    change = Form(
        name="change",
        rpc=f"Update{request}",
        keys=(key,),
        button="Save",
        done="saved",
        heading="Settings",
        fields=fields,
    )
    delete = Form(
        name="delete",
        rpc=f"Delete{request}",
        keys=(key,),
        button=f"Delete {noun}",
        done="deleted",
        warning=gone,
        is_gone=True,
    )
    return create, change, delete


_GROUP: Final = _forms(
    "group",
    "Group",
    (FormField("name", "Name"), FormField("roles.names", "Roles", sources=(ROLE_NAMES,))),
    key="group_id",
    gone="The users and clients of the group lose it and its roles.",
)
_ROLE: Final = _forms(
    "role",
    "Role",
    (FormField("name", "Name"), FormField("permissions.names", "Permissions", sources=PERMISSIONS)),
    key="role_id",
    gone="The users and clients that have the role lose it and its permissions.",
)
_SCOPE: Final = _forms(
    "scope",
    "Scope",
    (
        FormField("name", "Name"),
        FormField("attr_include_access", "Attributes in access tokens", sources=(_ATTRIBUTES,)),
        FormField("attr_include_id", "Attributes in ID tokens and user info", sources=(_ATTRIBUTES,)),
    ),
    key="scope_id",
    gone="The clients that have the scope lose it.",
)
_ATTRIBUTE: Final = _forms(
    "attribute",
    "UserAttribute",
    (
        FormField("desc", "Description"),
        FormField("user_editable", "Users may change their own value"),
    ),
    key="name",
    gone="The users lose their values, and the scopes do not open it any more.",
)

GROUPS: Final = RecordKind(
    name="groups",
    title="Groups",
    noun="group",
    listing=Listing(
        rpc="ListGroups",
        key="id",
        columns=(Column("name", "Name"), Column("roles", "Roles")),
        empty="No group matches.",
    ),
    heading="name",
    create=_GROUP[0],
    forms=_GROUP[1:],
)
ROLES: Final = RecordKind(
    name="roles",
    title="Roles",
    noun="role",
    listing=Listing(
        rpc="ListRoles",
        key="id",
        columns=(Column("name", "Name"), Column("permissions", "Permissions")),
        empty="No role matches.",
    ),
    heading="name",
    create=_ROLE[0],
    forms=_ROLE[1:],
)
SCOPES: Final = RecordKind(
    name="scopes",
    title="Scopes",
    noun="scope",
    listing=Listing(
        rpc="ListScopes",
        key="id",
        columns=(
            Column("name", "Name"),
            Column("attr_include_access", "In access tokens"),
            Column("attr_include_id", "In ID tokens and user info"),
        ),
        empty="No scope matches.",
    ),
    heading="name",
    create=_SCOPE[0],
    forms=_SCOPE[1:],
)
_NAME: Final = "Name, which is also that of the claim"
ATTRIBUTES: Final = RecordKind(
    name="attributes",
    title="Attributes",
    noun="attribute",
    listing=Listing(
        rpc="ListUserAttributes",
        key="name",
        columns=(
            Column("name", "Name"),
            Column("desc", "Description"),
            Column("user_editable", "Users may change it"),
        ),
        empty="No attribute matches.",
    ),
    heading="name",
    create=_ATTRIBUTE[0].with_fields(FormField("name", _NAME)),
    forms=(
        _ATTRIBUTE[1].with_fields(FormField("new_name", _NAME, source="name", is_required=True)),
        _ATTRIBUTE[2],
    ),
)
