"""LDAP directories, with whose passwords users sign in."""

from typing import Final

from edge.console.identity.declarations import (
    Column,
    Control,
    Form,
    FormField,
    Listing,
    Part,
    RecordKind,
    Show,
)
from server.platform.languages import marked

_FIELDS: Final = (
    FormField("fields.name", marked("Name")),
    FormField("fields.enabled", marked("Users may sign in through it"), is_on=True),
    FormField(
        "fields.urls",
        marked("Servers"),
        marked("One in each line, in order of preference: ldaps://host:port."),
        control=Control.LINES,
    ),
    FormField("fields.start_tls", marked("StartTLS for ldap:// addresses")),
    FormField(
        "fields.ca_certificates",
        marked("Certificates of authorities"),
        marked("In PEM. Empty for those of the system."),
        control=Control.AREA,
    ),
    FormField("fields.bind_dn", marked("DN that searches"), marked("Empty for an anonymous search.")),
    FormField(
        "bind_password",
        marked("Its password"),
        marked("Empty for none, or to leave it as it is."),
        control=Control.SECRET,
    ),
    FormField("fields.user_base", marked("DN above the users")),
    FormField(
        "fields.user_filter",
        marked("Filter that finds a user"),
        marked("{name} stands for the text that the user entered."),
    ),
    FormField("fields.id_attribute", marked("Attribute with the unique id")),
    FormField("fields.username_attribute", marked("Attribute with the user name")),
    FormField("fields.email_attribute", marked("Attribute with the email address")),
    FormField("fields.given_name_attribute", marked("Attribute with the first name")),
    FormField("fields.family_name_attribute", marked("Attribute with the last name")),
    FormField("fields.member_of_attribute", marked("Attribute with the groups of a user")),
    FormField(
        "fields.group_base", marked("DN above the groups"), marked("Empty where users name their groups.")
    ),
    FormField(
        "fields.group_filter",
        marked("Filter that finds the groups of a user"),
        marked("{dn} stands for the DN of the user, {name} for the user name."),
    ),
    FormField("fields.group_name_attribute", marked("Attribute with the name of a group")),
    FormField("fields.auto_onboarding", marked("New users get an account"), is_on=True),
    FormField("fields.auto_link", marked("Users get the account with their address, if it has no password")),
    FormField("fields.timeout", marked("Seconds that a step may take")),
    FormField("fields.pool_size", marked("Connections at a time")),
)

LDAP_DIRECTORIES: Final = RecordKind(
    name="ldap-directories",
    title=marked("Directories"),
    noun="directory",
    about=marked("Users sign in with the passwords of an LDAP directory or of Active Directory."),
    listing=Listing(
        rpc="ListLdapDirectories",
        key="id",
        columns=(
            Column("fields.name", marked("Name")),
            Column("id", marked("Id"), Show.CODE),
            Column("fields.enabled", marked("Enabled")),
            Column("fields.urls", marked("Servers")),
        ),
        empty=marked("No directory matches."),
    ),
    heading="fields.name",
    facts=(Column("id", marked("Id"), Show.CODE), Column("fields.mappings", marked("Mappings of groups"))),
    create=Form(
        name="create",
        rpc="CreateLdapDirectory",
        button=marked("Create directory"),
        done="created",
        fields=_FIELDS,
    ),
    forms=(
        Form(
            name="try",
            rpc="TryLdapDirectory",
            keys=("directory_id",),
            button=marked("Try it"),
            done="tried",
            heading=marked("Trial"),
            fields=(FormField("name", marked("User to look up"), marked("No password is needed.")),),
            answer=(
                Column("servers", marked("Servers")),
                Column("problem", marked("Problem")),
                Column("user.dn", marked("Entry"), Show.CODE),
                Column("user.username", marked("User name")),
                Column("user.email", marked("Email address")),
                Column("user.given_name", marked("First name")),
                Column("user.family_name", marked("Last name")),
                Column("directory_groups", marked("Groups there")),
                Column("roles", marked("Roles from mappings")),
                Column("groups", marked("Groups from mappings")),
            ),
        ),
        Form(
            name="change",
            rpc="UpdateLdapDirectory",
            keys=("directory_id",),
            base=("fields", "fields"),
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            fields=_FIELDS,
        ),
        Form(
            name="delete",
            rpc="DeleteLdapDirectory",
            keys=("directory_id",),
            button=marked("Delete directory"),
            done="deleted",
            warning=marked("Its users can no longer sign in. Their accounts stay."),
            is_gone=True,
        ),
    ),
    parts=(
        Part(
            heading=marked("Linked users"),
            owner="directory_id",
            listing=Listing(
                rpc="ListLdapDirectoryUsers",
                key="id",
                columns=(
                    Column("email", marked("Email address")),
                    Column("id", marked("User"), kind="users"),
                ),
                empty=marked("No user is linked."),
            ),
        ),
    ),
)
