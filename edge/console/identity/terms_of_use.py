"""Terms of use."""

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

_LANGUAGE: Final = marked("Language of the text")
_TEXT: Final = marked("Text")
_PLAIN: Final = marked("Plain text; empty lines stay.")

ACCEPTED_TERMS: Final = Listing(
    rpc="ListAcceptedTerms",
    columns=(
        Column("version", marked("Version"), kind="terms"),
        Column("accepted_at", marked("Accepted"), Show.SECONDS),
        Column("client_id", marked("Client"), kind="clients"),
    ),
    empty=marked("The user accepted no terms of use."),
)
TERMS: Final = RecordKind(
    name="terms",
    title=marked("Terms of use"),
    noun="version",
    about=marked(
        "Users accept the version that holds when they sign in. Nobody can change a published version."
    ),
    listing=Listing(
        rpc="ListTerms",
        key="version",
        columns=(
            Column("version", marked("Version")),
            Column("current", marked("Holds now")),
            Column("holds_from", marked("Holds from"), Show.SECONDS),
            Column("accepted_again", marked("Accepted again")),
            Column("accept_until", marked("Accepted until"), Show.SECONDS),
            Column("languages", marked("Languages")),
            Column("withdrawn_at", marked("Withdrawn"), Show.SECONDS),
        ),
        empty=marked("No version matches."),
    ),
    get="GetTerms",
    get_key="version",
    heading="version",
    facts=(
        Column("current", marked("Holds now")),
        Column("holds_from", marked("Holds from"), Show.SECONDS),
        Column("accepted_again", marked("Accepted again")),
        Column("accept_until", marked("Accepted until"), Show.SECONDS),
        Column("uri", marked("Address"), Show.CODE),
        Column("languages", marked("Languages")),
        Column("published_at", marked("Published"), Show.SECONDS),
        Column("withdrawn_at", marked("Withdrawn"), Show.SECONDS),
    ),
    create=Form(
        name="create",
        rpc="PublishTerms",
        button=marked("Publish version"),
        done="published",
        fields=(
            FormField("version", marked("Version"), marked("A name as 1.0 or 2026-01."), is_required=True),
            FormField("language", _LANGUAGE, marked("A tag as en or de.")),
            FormField("text", _TEXT, _PLAIN, control=Control.AREA),
            FormField("uri", marked("Address"), marked("An https address, beside the text or in its place.")),
            FormField(
                "holds_from",
                marked("Holds from (UTC)"),
                marked("Empty for now."),
                control=Control.MOMENT,
                is_zero=True,
            ),
            FormField(
                "accepted_again",
                marked("Users who accepted an earlier version accept this one again"),
                is_on=True,
            ),
            FormField(
                "accept_until",
                marked("Users may decide later until (UTC)"),
                marked("Only users whose accounts are older than the version. Empty for nobody."),
                control=Control.MOMENT,
                is_zero=True,
            ),
        ),
    ),
    forms=(
        Form(
            name="translation",
            rpc="AddTermsText",
            keys=("version",),
            button=marked("Add translation"),
            done="translation-added",
            heading=marked("Translation"),
            fields=(
                FormField("language", _LANGUAGE, marked("A tag as en or de."), is_required=True),
                FormField("text", _TEXT, _PLAIN, control=Control.AREA, is_required=True),
            ),
        ),
        Form(
            name="withdraw",
            rpc="WithdrawTerms",
            keys=("version",),
            button=marked("Withdraw version"),
            done="terms-withdrawn",
            warning=marked("No user is asked for this version any more. Its acceptances stay."),
        ),
    ),
    parts=(
        Part(
            heading=marked("Acceptances"),
            owner="version",
            listing=Listing(
                rpc="ListTermsAcceptances",
                columns=(
                    Column("user_id", marked("User"), kind="users"),
                    Column("accepted_at", marked("Accepted"), Show.SECONDS),
                    Column("client_id", marked("Client"), kind="clients"),
                ),
                empty=marked("No user accepted this version."),
            ),
        ),
    ),
)
