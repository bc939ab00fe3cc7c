import pytest

from identity.authentication.one_time_codes.config import OneTimeCodeConfig


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("issuer_name", ""),
        ("issuer_name", "x" * 65),
        ("issuer_name", "a:b"),
        ("asked_secs", 29),
        ("pending_secs", 3601),
        ("most_wrong", 2),
        ("pause_secs", 9),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_its_name(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        OneTimeCodeConfig(**{field: value})  # type: ignore[arg-type]  # what a file may say
