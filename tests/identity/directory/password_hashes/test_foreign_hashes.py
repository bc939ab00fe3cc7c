"""Password hashes of other systems: which are read, what they may cost, and what they verify."""

import bcrypt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identity.directory.password_config import PasswordConfig
from identity.directory.password_hashes.foreign_hash import OWN, ForeignHash, read
from identity.directory.passwords import Passwords
from server.platform.errors import InvalidArgument
from tests.identity.directory.password_hashes.hashes import MADE, PASSWORD

_SALT, _SUM = "c2FsdHNhbHRzYWx0", "A" * 43
_CHEAP = PasswordConfig(memory_kib=64, iterations=1, lanes=1)


@pytest.mark.parametrize("kind", MADE)
def test_a_hash_of_another_system_verifies_its_password_alone(kind: str) -> None:
    found = read(MADE[kind]())

    assert found.matches(PASSWORD)
    assert not found.matches(f"{PASSWORD}!")
    assert not found.matches("")


@pytest.mark.parametrize("kind", MADE)
def test_the_stored_form_is_read_again(kind: str) -> None:
    found = read(MADE[kind]())

    again = read(found.text)

    assert (found.text, True) == (again.text, again.matches(PASSWORD))


@pytest.mark.parametrize("kind", MADE)
def test_a_decoy_costs_as_much_and_is_of_no_password(kind: str) -> None:
    found = read(MADE[kind]())

    decoy = read(found.decoy)

    assert 0 < found.cost == decoy.cost
    assert decoy.text != found.text
    assert not decoy.matches(PASSWORD)


@pytest.mark.parametrize("kind", MADE)
async def test_a_password_is_verified_by_any_kind_of_hash_and_the_hash_is_outdated(kind: str) -> None:
    passwords = Passwords(PasswordConfig(memory_kib=128, iterations=1, lanes=1))
    stored = read(MADE[kind]()).text

    assert await passwords.verify("default", stored, PASSWORD)
    assert not await passwords.verify("default", stored, "wrong")
    assert passwords.is_outdated(stored)


async def test_a_hash_of_our_own_is_read_as_it_is() -> None:
    passwords = Passwords(_CHEAP)
    own = await passwords.hash("default", PASSWORD)

    assert own.startswith(OWN)
    assert read(own).text == own
    assert not passwords.is_outdated(own)


def test_bcrypt_reads_no_more_than_72_octets_as_other_programs_do() -> None:
    made = bcrypt.hashpw(b"x" * 72, bcrypt.gensalt(4)).decode()

    assert read(made).matches("x" * 100)
    assert not read(made).matches("x" * 71)


COSTLY = [
    pytest.param(f"$2b$14${'a' * 53}", id="bcrypt"),
    pytest.param(f"$2b$31${'a' * 53}", id="bcrypt of minutes"),
    pytest.param(f"$pbkdf2-sha256$i=1500001${_SALT}${_SUM}", id="PBKDF2 with SHA-256"),
    pytest.param(f"$pbkdf2-sha512$1000001${_SALT}${_SUM}", id="PBKDF2 with SHA-512"),
    pytest.param(f"pbkdf2_sha256$9999999999$salt${_SUM}", id="PBKDF2 of Django"),
    pytest.param(f"$argon2id$v=19$m=131073,t=1,p=1${_SALT}${_SUM}", id="memory of argon2"),
    pytest.param(f"$argon2id$v=19$m=65536,t=7,p=1${_SALT}${_SUM}", id="time of argon2"),
    pytest.param(f"$argon2id$v=19$m=65536,t=1,p=17${_SALT}${_SUM}", id="lanes of argon2"),
    pytest.param(f"$argon2i$v=19$m=8,t=4294967295,p=1${_SALT}${_SUM}", id="iterations of argon2"),
    pytest.param(f"$scrypt$ln=17,r=8,p=1${_SALT}${_SUM}", id="memory of scrypt"),
    pytest.param(f"$scrypt$ln=16,r=8,p=3${_SALT}${_SUM}", id="time of scrypt"),
    pytest.param(f"$scrypt$ln=99,r=1,p=1${_SALT}${_SUM}", id="scrypt of all memory there is"),
    pytest.param(f"scrypt$1048576$salt$8$1${_SUM}", id="scrypt of Django"),
]


@pytest.mark.parametrize("text", COSTLY)
def test_a_hash_that_costs_too_much_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"password_hash: expected (?!base64)"):
        read(text)


UNREADABLE = [
    pytest.param("", id="nothing"),
    pytest.param("correct horse battery staple", id="a password"),
    pytest.param("5f4dcc3b5aa765d61d8327deb882cf99", id="MD5"),
    pytest.param("$1$salt$qJH7.N4xYta3aEG/dfqo/0", id="MD5 of crypt"),
    pytest.param(
        "$6$salt$IxDD3jeSOb5eB1CX5LBsqZFVkJdido3OUILO5Ifz5iwMuTS4XMS130MTSuDDl3aCI6WouIL9AjRbLCelDCy.g.",
        id="SHA-512 of crypt",
    ),
    pytest.param("{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", id="SSHA"),
    pytest.param(f"$2x$10${'a' * 53}", id="bcrypt with a mistake"),
    pytest.param(f"2b$10${'a' * 53}", id="bcrypt without its dollar"),
    pytest.param(f"$argon2d$v=19$m=64,t=1,p=1${_SALT}${_SUM}", id="argon2d"),
    pytest.param(f"$argon2id$m=64,t=1,p=1${_SALT}${_SUM}", id="argon2 without version"),
    pytest.param(f"$argon2id$v=19$m=6_4,t=1,p=1${_SALT}${_SUM}", id="a number of Python"),
    pytest.param(f"$argon2id$v=19$m=64,t=0,p=1${_SALT}${_SUM}", id="no iterations"),
    pytest.param(f"$argon2id$v=19$m=64,t=1,p=1$c2FsdA${_SUM}", id="a short salt"),
    pytest.param(f"$pbkdf2-sha256$i=0${_SALT}${_SUM}", id="no iterations of PBKDF2"),
    pytest.param(f"$pbkdf2-sha256$i=10${_SALT}$", id="no checksum"),
    pytest.param(f"$pbkdf2-sha256$i=10${_SALT}$AAAA", id="a short checksum"),
    pytest.param(f"$pbkdf2-sha256$i=10$\N{SNOWMAN}${_SUM}", id="no base64"),
    pytest.param(f"$pbkdf2-md5$i=10${_SALT}${_SUM}", id="PBKDF2 with MD5"),
    pytest.param(f"scrypt$1000$salt$8$1${_SUM}", id="no power of two"),
    pytest.param(f"scrypt$0$salt$8$1${_SUM}", id="N of nothing"),
    pytest.param(f"$scrypt$ln=0,r=8,p=1${_SALT}${_SUM}", id="scrypt without work"),
    pytest.param("$" * 1025, id="a long text"),
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_no_hash_of_a_known_kind_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        read(text)


@given(
    st.one_of(
        st.text(max_size=200),
        st.from_regex(r"\$(2b|argon2id|pbkdf2-sha256|scrypt)\$[!-~]{0,40}\$[!-~]{0,40}", fullmatch=True),
    )
)
def test_a_text_is_read_or_refused_without_its_content(text: str) -> None:
    found = _read(text)

    if isinstance(found, InvalidArgument):
        assert len(text) < 20 or text not in str(found)
    else:
        assert read(found.text).text == found.text


def _read(text: str) -> ForeignHash | InvalidArgument:
    try:
        return read(text)
    except InvalidArgument as refusal:
        return refusal
