from dataclasses import replace

import pytest

from identity.directory.tenants.password_policy import PasswordPolicy
from server.platform.errors import InvalidArgument

LENGTH_ALONE = PasswordPolicy()


@pytest.mark.parametrize(
    "password",
    [
        pytest.param("fifteen letters", id="no digit and no capital"),
        pytest.param("correct horse battery staple", id="spaces"),
        pytest.param("пароль из букв всякого письма", id="every script"),
        pytest.param("🐎🔋📎" * 5, id="signs beyond the basic plane count once"),
        pytest.param("x" * 256, id="long"),
    ],
)
def test_length_alone_counts_unless_a_tenant_wants_more(password: str) -> None:
    LENGTH_ALONE.expect(password)


@pytest.mark.parametrize(
    ("password", "message"),
    [
        ("fourteen chars", "Minimum password length is 15"),
        ("🐎" * 14, "Minimum password length is 15"),
        ("x" * 257, "Maximum password length is 256"),
    ],
)
def test_a_password_of_the_wrong_length_is_refused(password: str, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        LENGTH_ALONE.expect(password)


@pytest.mark.parametrize(
    ("password", "message"),
    [
        ("UPPER 12 !? UPPER", "minimum lower character count: 1"),
        ("lower 12 !? lower", "minimum upper character count: 2"),
        ("Lower 1 !? LOWER", "minimum digit count: 2"),
        ("LoweR12LoweR12Lower", "minimum special character count: 1"),
    ],
)
def test_a_tenant_may_ask_for_characters_of_each_class(password: str, message: str) -> None:
    classic = replace(
        LENGTH_ALONE, include_lower_case=1, include_upper_case=2, include_digits=2, include_special=1
    )
    classic.expect("UPPER and 12 lower!")

    with pytest.raises(InvalidArgument, match=message):
        classic.expect(password)


@pytest.mark.parametrize(
    "bounds",
    [
        {"length_min": 7},
        {"length_min": 129},
        {"length_max": 63},
        {"length_max": 257},
        {"length_min": 128, "length_max": 64},
        {"include_digits": 17},
        {"valid_days": 3651},
        {"not_recently_used": 11},
        {"not_recently_used": -1},
    ],
)
def test_a_policy_out_of_bounds_is_refused(bounds: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected"):
        PasswordPolicy(**bounds)
