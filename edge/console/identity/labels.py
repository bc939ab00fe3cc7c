"""Named things of users and clients: groups, roles, scopes, types of authorization details and attributes."""

from typing import Final

from edge.console.identity.declarations import Column, Control, Form, FormField, Listing, RecordKind, Source
from server.platform.languages import marked

GROUP_NAMES: Final = Source(rpc="ListGroups", paths=("groups.name",))
ROLE_NAMES: Final = Source(rpc="ListRoles", paths=("roles.name",))
# The provider has its own permissions, which its built-in roles give.
PERMISSIONS: Final = (Source(), Source(rpc="ListRoles", paths=("roles.permissions",)))
_ATTRIBUTES: Final = Source(rpc="ListUserAttributes", paths=("values.name",))


def _forms(
    request: str, fields: tuple[FormField, ...], *, key: str, create: str, delete: str, gone: str
) -> tuple[Form, Form, Form]:
    """Return the forms that create, change and delete; `request` is the name of the record in RPCs."""
    created = Form(name="create", rpc=f"Create{request}", button=create, done="created", fields=fields)
    changed = Form(
        name="change",
        rpc=f"Update{request}",
        keys=(key,),
        button=marked("Save"),
        done="saved",
        heading=marked("Settings"),
        fields=fields,
    )
    deleted = Form(
        name="delete",
        rpc=f"Delete{request}",
        keys=(key,),
        button=delete,
        done="deleted",
        warning=gone,
        is_gone=True,
    )
    return created, changed, deleted


_GROUP: Final = _forms(
    "Group",
    (FormField("name", marked("Name")), FormField("roles.names", marked("Roles"), sources=(ROLE_NAMES,))),
    key="group_id",
    create=marked("Create group"),
    delete=marked("Delete group"),
    gone=marked("The users and clients of the group lose it and its roles."),
)
_ROLE: Final = _forms(
    "Role",
    (
        FormField("name", marked("Name")),
        FormField("permissions.names", marked("Permissions"), sources=PERMISSIONS),
    ),
    key="role_id",
    create=marked("Create role"),
    delete=marked("Delete role"),
    gone=marked("The users and clients that have the role lose it and its permissions."),
)
_SCOPE: Final = _forms(
    "Scope",
    (
        FormField("name", marked("Name")),
        FormField("attr_include_access", marked("Attributes in access tokens"), sources=(_ATTRIBUTES,)),
        FormField("attr_include_id", marked("Attributes in ID tokens and user info"), sources=(_ATTRIBUTES,)),
    ),
    key="scope_id",
    create=marked("Create scope"),
    delete=marked("Delete scope"),
    gone=marked("The clients that have the scope lose it."),
)
_DETAILS_TYPE: Final = _forms(
    "AuthorizationDetailsType",
    (
        FormField("name", marked("Name"), marked("The value of type in the details.")),
        FormField("title", marked("Title"), marked("What the consent page says, as in: Pay an invoice")),
        FormField("description", marked("Description")),
        FormField(
            "fields",
            marked("Fields"),
            marked("A JSON object of paths, each with an object that has a label."),
            control=Control.AREA,
        ),
        FormField("self_registration", marked("Clients that register themselves may have it")),
    ),
    key="type_id",
    create=marked("Create type"),
    delete=marked("Delete type"),
    gone=marked("The clients that have the type lose it. Granted tokens keep their details."),
)
_ATTRIBUTE: Final = _forms(
    "UserAttribute",
    (
        FormField("desc", marked("Description")),
        FormField("user_editable", marked("Users may change their own value")),
    ),
    key="name",
    create=marked("Create attribute"),
    delete=marked("Delete attribute"),
    gone=marked("Users lose their values, and scopes no longer include it."),
)

_SEARCH: Final = FormField("search", marked("Name"))

GROUPS: Final = RecordKind(
    name="groups",
    title=marked("Groups"),
    noun="group",
    listing=Listing(
        rpc="ListGroups",
        key="id",
        columns=(Column("name", marked("Name"), sort="name"), Column("roles", marked("Roles"))),
        filters=(_SEARCH,),
        empty=marked("No group matches."),
    ),
    get="GetGroup",
    get_key="group_id",
    heading="name",
    create=_GROUP[0],
    forms=_GROUP[1:],
)
ROLES: Final = RecordKind(
    name="roles",
    title=marked("Roles"),
    noun="role",
    listing=Listing(
        rpc="ListRoles",
        key="id",
        columns=(Column("name", marked("Name"), sort="name"), Column("permissions", marked("Permissions"))),
        filters=(_SEARCH,),
        empty=marked("No role matches."),
    ),
    get="GetRole",
    get_key="role_id",
    heading="name",
    create=_ROLE[0],
    forms=_ROLE[1:],
)
SCOPES: Final = RecordKind(
    name="scopes",
    title=marked("Scopes"),
    noun="scope",
    listing=Listing(
        rpc="ListScopes",
        key="id",
        columns=(
            Column("name", marked("Name")),
            Column("attr_include_access", marked("In access tokens")),
            Column("attr_include_id", marked("In ID tokens and user info")),
        ),
        empty=marked("No scope matches."),
    ),
    heading="name",
    create=_SCOPE[0],
    forms=_SCOPE[1:],
)
DETAILS_TYPES: Final = RecordKind(
    name="authorization-details-types",
    title=marked("Authorization details"),
    noun="type",
    about=marked("Types of what clients ask for beyond scopes: RFC 9396."),
    listing=Listing(
        rpc="ListAuthorizationDetailsTypes",
        key="id",
        columns=(
            Column("name", marked("Name")),
            Column("title", marked("Title")),
            Column("self_registration", marked("Clients that register themselves may have it")),
        ),
        empty=marked("No type matches."),
    ),
    heading="name",
    create=_DETAILS_TYPE[0],
    forms=_DETAILS_TYPE[1:],
)
_NAME: Final = marked("Name, which is also that of the claim")
ATTRIBUTES: Final = RecordKind(
    name="attributes",
    title=marked("Attributes"),
    noun="attribute",
    listing=Listing(
        rpc="ListUserAttributes",
        key="name",
        columns=(
            Column("name", marked("Name")),
            Column("desc", marked("Description")),
            Column("user_editable", marked("Users may change it")),
        ),
        empty=marked("No attribute matches."),
    ),
    heading="name",
    create=_ATTRIBUTE[0].with_fields(FormField("name", _NAME)),
    forms=(
        _ATTRIBUTE[1].with_fields(FormField("new_name", _NAME, source="name", is_required=True)),
        _ATTRIBUTE[2],
    ),
)
