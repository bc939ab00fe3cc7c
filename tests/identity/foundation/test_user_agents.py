import pytest

from identity.foundation.user_agents import name_of

WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
ANDROID = "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox, Linux"),
        (f"{WINDOWS} Chrome/128.0.0.0 Safari/537.36", "Chrome, Windows"),
        (f"{WINDOWS} Chrome/128.0.0.0 Safari/537.36 Edg/128.0.0.0", "Edge, Windows"),
        (f"{IPHONE} Version/17.5 Mobile/15E148 Safari/604.1", "Safari, iOS"),
        (f"{ANDROID} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36", "Samsung Internet, Android"),
        ("curl/8.5.0", ""),
        ("an invented one on Linux", "Linux"),
        ("", ""),
    ],
)
def test_a_header_has_a_name_of_known_words(user_agent: str, name: str) -> None:
    assert name_of(user_agent) == name
