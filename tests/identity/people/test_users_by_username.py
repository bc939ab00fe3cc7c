import pytest

from identity.people.users_by_username import NewUser, account_of
from server.platform.errors import InvalidArgument


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ada King Lovelace", ("Ada King", "Lovelace")),
        ("Ada", ("Ada", "")),
        ("  ", ("", "")),
        ("Ada\N{NO-BREAK SPACE}King  Davis, Jr.", ("Ada King Davis,", "Jr.")),
        ("Ada\nLovelace", ("Ada\nLovelace", "")),
    ],
)
def test_the_last_of_several_words_is_the_last_name(name: str, expected: tuple[str, str]) -> None:
    account = account_of(NewUser("ada", "secret", name))

    assert (account.given_name, account.family_name) == expected


@pytest.mark.parametrize("email", ["", "ada@example.com"])
def test_a_username_with_an_at_sign_is_the_address_of_the_account(email: str) -> None:
    account = account_of(NewUser("ada@example.com", "secret", email=email))

    assert (account.email, account.preferred_username) == ("ada@example.com", None)


def test_another_username_is_the_preferred_one() -> None:
    account = account_of(NewUser("ada", "secret", email="ada@example.com"))

    assert (account.email, account.preferred_username) == ("ada@example.com", "ada")


def test_a_username_that_is_another_address_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="found another address"):
        account_of(NewUser("ada@example.com", "secret", email="grace@example.com"))
