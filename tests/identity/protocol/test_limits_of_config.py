import pytest

from identity.access.dpop.config import DpopConfig
from identity.access.tokens.config import DeviceGrantConfig, TokenConfig

OUT_OF_BOUNDS = [
    (TokenConfig, "refresh_token_lifetime_hours", 0),
    (TokenConfig, "refresh_family_lifetime_days", 366),
    (TokenConfig, "refresh_grace_secs", 61),
    (DeviceGrantConfig, "lifetime_secs", 29),
    (DeviceGrantConfig, "user_code_length", 7),
    (DeviceGrantConfig, "poll_interval_secs", 0),
    (DeviceGrantConfig, "start_limit_secs", -1),
    (DeviceGrantConfig, "refresh_lifetime_hours", 0),
    (DeviceGrantConfig, "refresh_family_lifetime_days", 0),
    (DpopConfig, "nonce_lifetime_secs", 86_401),
]


@pytest.mark.parametrize(("section", "field", "number"), OUT_OF_BOUNDS)
def test_a_number_out_of_bounds_is_refused_by_its_name(
    section: type[TokenConfig | DeviceGrantConfig | DpopConfig], field: str, number: int
) -> None:
    with pytest.raises(ValueError, match=field):
        section(**{field: number})
