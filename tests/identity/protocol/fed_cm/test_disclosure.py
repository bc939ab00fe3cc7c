"""Claims that a client gets through FedCM, and the browser's disclosure."""

from typing import Any

import pytest

from identity.directory.client import ClientId
from identity.directory.consents.consent import Consent, Terms
from identity.directory.user import UserId
from identity.foundation.errors import ConsentRequired
from identity.foundation.vocabulary import ConsentMode
from identity.protocol.fed_cm.disclosure import FIELDS, Disclosure, approval_of, terms_of
from tests.identity.browsers import NOON
from tests.identity.protocol.fed_cm.mediation import shop

NAMES = ("name", "given_name", "family_name")
ADDRESS = ("email", "email_verified")
ALL = (*NAMES, *ADDRESS, "picture")


def granted_before(*scopes: str, claims: tuple[str, ...] = ()) -> Consent:
    client = shop()
    return Consent(
        tenant_id=client.tenant_id,
        id="c1",
        user_id=UserId("alice"),
        client_id=ClientId("shop"),
        pair="alice shop",
        terms=Terms(oauth_scopes=scopes, claims=claims),
        granted_at=NOON,
    )


def calls(mode: ConsentMode = ConsentMode.ONCE, **fields: Any) -> Any:
    return shop(consent=mode, **fields)


@pytest.mark.parametrize("mode", list(ConsentMode))
@pytest.mark.parametrize(
    ("fields", "claims"),
    [
        pytest.param(FIELDS, (*NAMES, *ADDRESS, "picture"), id="all"),
        pytest.param(("email",), ADDRESS, id="the address"),
        pytest.param(("name", "fax"), NAMES, id="what nobody knows is nothing"),
    ],
)
def test_a_client_gets_what_it_asked_for_and_the_browser_told_of(
    mode: ConsentMode, fields: tuple[str, ...], claims: tuple[str, ...]
) -> None:
    terms = terms_of(calls(mode), Disclosure(fields=fields, told=fields), None)

    assert terms == Terms(oauth_scopes=("openid",), claims=claims)


def test_a_client_gets_no_claim_of_a_scope_that_it_may_not_ask_for() -> None:
    terms = terms_of(calls(oauth_scopes=("openid", "email")), Disclosure(told=FIELDS), None)

    assert terms.claims == ADDRESS


@pytest.mark.parametrize("mode", [ConsentMode.ONCE, ConsentMode.ALWAYS])
def test_what_the_browser_did_not_tell_of_and_nobody_granted_is_kept_back(mode: ConsentMode) -> None:
    terms = terms_of(calls(mode), Disclosure(fields=FIELDS, told=("email",)), None)

    assert terms == Terms(oauth_scopes=("openid",), claims=ADDRESS)


def test_what_was_granted_before_needs_not_be_told_again() -> None:
    by_scope = terms_of(calls(), Disclosure(), granted_before("openid", "email"))
    by_claim = terms_of(calls(), Disclosure(), granted_before("openid", claims=("picture",)))

    assert (by_scope.claims, by_claim.claims) == (ADDRESS, ("picture",))


def test_where_nobody_is_ever_asked_an_administrator_has_granted_it() -> None:
    client = calls(
        ConsentMode.NEVER, default_scopes=("openid", "groups"), oauth_scopes=("openid", "groups", "email")
    )

    terms = terms_of(client, Disclosure(is_silent=True), None)

    assert terms == Terms(oauth_scopes=("openid", "groups"), claims=ADDRESS)


def test_a_default_scope_that_the_person_never_granted_is_kept_back() -> None:
    client = calls(default_scopes=("openid", "groups"), oauth_scopes=("openid", "groups"))

    first = terms_of(client, Disclosure(told=FIELDS), None)
    later = terms_of(client, Disclosure(), granted_before("openid", "groups"))

    assert (first.oauth_scopes, later.oauth_scopes) == (("openid",), ("openid", "groups"))


@pytest.mark.parametrize(
    ("mode", "consent"),
    [
        (ConsentMode.ONCE, None),
        (ConsentMode.ALWAYS, None),
        (ConsentMode.ALWAYS, granted_before("openid", "profile", "email")),
    ],
    ids=["once", "always", "always, and granted before"],
)
def test_a_browser_that_asked_nobody_gets_nothing_where_somebody_is_to_be_asked(
    mode: ConsentMode, consent: Consent | None
) -> None:
    with pytest.raises(ConsentRequired):
        terms_of(calls(mode), Disclosure(is_silent=True), consent)


def test_whoever_was_asked_once_goes_on_silently() -> None:
    terms = terms_of(calls(), Disclosure(is_silent=True), granted_before("openid", "profile", "email"))

    assert terms.claims == ALL


def test_scopes_that_nobody_saw_are_not_remembered_as_granted() -> None:
    client = calls(ConsentMode.NEVER, default_scopes=("openid", "groups"), oauth_scopes=("openid", "groups"))
    disclosure = Disclosure(told=("email",))

    approval = approval_of(disclosure, terms_of(client, disclosure, None))

    assert approval == Terms(oauth_scopes=("openid",), claims=ADDRESS)
