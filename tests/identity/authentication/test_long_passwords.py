"""Every character of a password counts: OWASP ASVS 5, 6.2.8 and 6.2.9."""

from collections.abc import Iterator

import pytest

from identity.directory.password_config import PasswordConfig
from identity.directory.passwords import Passwords


@pytest.fixture(scope="module")
def passwords() -> Iterator[Passwords]:
    pool = Passwords(PasswordConfig(memory_kib=8, iterations=1, lanes=1, workers=1))
    yield pool
    pool.close()


@pytest.mark.parametrize(
    ("password", "almost"),
    [
        pytest.param("x" * 64, "x" * 63, id="64 characters"),
        pytest.param("x" * 255 + "y", "x" * 255 + "z", id="256 characters"),
        pytest.param("ä" * 127 + "ö", "ä" * 127 + "ü", id="more octets than characters"),
        pytest.param(" a  b ", "a b", id="spaces"),
        pytest.param("pass\0word", "pass", id="NUL"),
        pytest.param("🔑 ключ", "🔑 ключь", id="any script"),
        pytest.param("Secret", "secret", id="case"),
    ],
)
async def test_what_differs_in_one_character_is_another_password(
    passwords: Passwords, password: str, almost: str
) -> None:
    password_hash = await passwords.hash("default", password)

    assert await passwords.verify("default", password_hash, password)
    assert not await passwords.verify("default", password_hash, almost)
