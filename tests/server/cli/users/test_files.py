"""Files of users: Keycloak realms, CSV and JSON lines, each read row by row."""

import base64
import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.identity.v1.user_pb2 import UserValues
from gnomon.identity.v1.user_transfer_service_pb2 import (
    TransferredGenerator,
    TransferredLink,
    TransferredUser,
)
from identity.directory.password_hashes.foreign_hash import read
from server.cli.users.columns import COLUMNS, csv_rows, values_of
from server.cli.users.json_lines import json_rows, line_of
from server.cli.users.keycloak import keycloak_rows
from server.cli.users.row import Part, Row, UnreadableFile, leave_out
from tests.server.cli.users import realm


def keycloak(*users: Mapping[str, Any] | object) -> list[Row]:
    document = {"realm": "acme", "users": users, "clients": []}
    return list(keycloak_rows(io.BytesIO(json.dumps(document).encode())))


def only(*users: Mapping[str, Any]) -> TransferredUser:
    (row,) = keycloak(*users)
    assert row.user is not None, row.reason
    return row.user


def table(text: str) -> list[Row]:
    return list(csv_rows(io.BytesIO(text.encode())))


KINDS = {
    "pbkdf2": lambda: realm.pbkdf2("pbkdf2"),
    "pbkdf2-sha256": lambda: realm.pbkdf2("pbkdf2-sha256"),
    "pbkdf2-sha512": lambda: realm.pbkdf2("pbkdf2-sha512"),
    "argon2": realm.argon2,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_password_of_keycloak_is_verified(kind: str) -> None:
    user = only(realm.user("ada", KINDS[kind]()))

    assert read(user.password_hash).matches(realm.PASSWORD)


def test_a_password_of_an_older_keycloak_is_verified() -> None:
    found = json.loads(realm.pbkdf2("pbkdf2-sha256")["secretData"])
    old = {
        "type": "password",
        "hashedSaltedValue": found["value"],
        "salt": found["salt"],
        "hashIterations": 10,
        "algorithm": "pbkdf2-sha256",
    }

    assert read(only(realm.user("ada", old)).password_hash).matches(realm.PASSWORD)


def test_base64_without_padding_is_read() -> None:
    made = realm.argon2()
    found = json.loads(made["secretData"])
    bare = {**made, "secretData": json.dumps({name: str(text).rstrip("=") for name, text in found.items()})}

    assert read(only(realm.user("ada", bare)).password_hash).matches(realm.PASSWORD)


def test_a_hash_of_the_extension_for_bcrypt_stays_as_it_is() -> None:
    made = "$2a$10$" + "a" * 53
    credential = {
        **realm.argon2(),
        "credentialData": '{"algorithm": "bcrypt", "hashIterations": 10}',
        "secretData": json.dumps({"value": made, "salt": ""}),
    }

    assert only(realm.user("ada", credential)).password_hash == made


def test_a_user_of_keycloak_keeps_what_it_was() -> None:
    user = only(
        realm.user(
            "ada",
            groups=["/staff/sales"],
            realmRoles=["default-roles-acme", "offline_access", "uma_authorization", "clerk"],
            attributes={"locale": ["de"], "department": ["sales"], "phones": ["1", "2"], "none": []},
            federatedIdentities=[{"identityProvider": "corp", "userId": "s1", "userName": "ada"}],
        )
    )

    assert user == TransferredUser(
        email="ada@example.com",
        given_name="Ada",
        family_name="Lovelace",
        language="de",
        enabled=True,
        email_verified=True,
        groups=["staff/sales"],
        roles=["clerk"],
        user_values=UserValues(preferred_username="ada"),
        attributes='{"department": "sales", "phones": ["1", "2"]}',
        links=[TransferredLink(provider="corp", subject="s1")],
        created_at=1735689600,
    )


def test_required_actions_with_a_meaning_are_kept() -> None:
    user = only(
        realm.user(
            "ada", realm.argon2(), requiredActions=["UPDATE_PASSWORD", "VERIFY_EMAIL", "CONFIGURE_TOTP"]
        )
    )

    assert (user.password_expired, user.email_verified) == (True, False)


@pytest.mark.parametrize("is_base32", [False, True])
def test_codes_of_the_common_form_come_along(*, is_base32: bool) -> None:
    octets = b"a secret of twenty o"
    base32 = base64.b32encode(octets).decode()
    form = {"secretEncoding": "BASE32"} if is_base32 else {}
    codes = realm.one_time_codes(base32 if is_base32 else octets.decode(), **form)

    user = only(realm.user("ada", realm.argon2(), codes))

    assert list(user.generators) == [TransferredGenerator(name="Phone", secret=base32)]


@pytest.mark.parametrize(
    "form", [{"digits": 8}, {"period": 60}, {"algorithm": "HmacSHA256"}, {"subType": "hotp"}]
)
def test_a_user_loses_no_second_factor_without_a_word(form: Mapping[str, object]) -> None:
    (row,) = keycloak(realm.user("ada", realm.argon2(), realm.one_time_codes("secret", **form)))

    assert (row.user, "one-time codes" in row.reason) == (None, True)


REFUSED = [
    pytest.param(realm.user("ada", email=None), "email", id="no address"),
    pytest.param(
        realm.user("ada", {**realm.argon2(), "credentialData": '{"algorithm": "md5"}'}),
        "md5",
        id="unknown kind",
    ),
    pytest.param(realm.user("ada", {**realm.argon2(), "secretData": "{"}), "secretData", id="no JSON"),
    pytest.param(realm.user("ada", groups=3), "type", id="a wrong type"),
    pytest.param(realm.user("ada", attributes=["a"]), "type", id="attributes that are no object"),
    pytest.param("ada", "object", id="no object"),
]


@pytest.mark.parametrize(("user", "word"), REFUSED)
def test_a_user_that_cannot_come_along_is_told_with_its_place(user: Any, word: str) -> None:
    first, second = keycloak(realm.user("bob"), user)

    assert (first.place, second.place, second.user) == (1, 2, None)
    assert word in second.reason
    assert realm.PASSWORD not in second.reason


def test_accounts_of_services_are_no_users() -> None:
    assert keycloak(realm.user("service-account-app", serviceAccountClientId="app")) == []


def test_a_broken_realm_yields_the_users_before() -> None:
    rows = keycloak_rows(io.BytesIO(b'{"users": [{"email": "a@example.com"}, {"em'))

    assert next(rows).name == "a@example.com"
    with pytest.raises(UnreadableFile, match="after user 1"):
        next(rows)


def test_a_realm_is_read_as_it_is_consumed(tmp_path: Path) -> None:
    """A file of any size costs the memory of one user."""

    def users() -> Iterator[Mapping[str, Any]]:
        return (realm.user(f"u{number}") for number in range(2000))

    with realm.write_realm(tmp_path / "realm.json", users()).open("rb") as file:
        next(keycloak_rows(file))

        assert file.tell() < 200_000


def test_rows_of_a_table_are_told_by_their_lines() -> None:
    rows = table(
        "\ufeffemail,given_name,groups,enabled,password_hash,created_at\r\n"
        'a@example.com,"Ada\r\nB.",staff; sales,false,$2b$10$x,2020-01-01T00:00:00Z\r\n'
        "\r\n"
        "b@example.com,Bob,,maybe,,\r\n"
        "c@example.com,Col\r\n"
        "d@example.com,Dora,,,,yesterday\r\n"
    )

    assert [(row.place, row.name, row.user is None) for row in rows] == [
        (2, "a@example.com", False),
        (5, "b@example.com", True),
        (6, "c@example.com", True),
        (7, "d@example.com", True),
    ]
    assert rows[0].user == TransferredUser(
        email="a@example.com",
        given_name="Ada\r\nB.",
        groups=["staff", "sales"],
        enabled=False,
        password_hash="$2b$10$x",
        created_at=1577836800,
    )
    assert [row.reason.partition(":")[0] for row in rows[1:]] == [
        "enabled",
        "expected as many values as there are columns",
        "created_at",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "email among them"),
        (b"name\r\n", "unknown column 'name'"),
        (b"email,email\r\n", "each once"),
        (b"given_name\r\n", "email among them"),
        (b'email\r\n"a@example.com"x\r\n', "line 2"),
        (b"email\r\n\xff\r\n", "UTF-8"),
    ],
)
def test_a_file_that_is_no_table_of_users_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(UnreadableFile, match=message):
        list(csv_rows(io.BytesIO(content)))


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
USERS = st.builds(
    TransferredUser,
    email=TEXTS.filter(bool),
    given_name=TEXTS,
    password_hash=TEXTS,
    enabled=st.booleans(),
    email_verified=st.booleans(),
    groups=st.lists(st.from_regex(r"[a-z/]{1,9}", fullmatch=True), max_size=3),
    attributes=st.dictionaries(TEXTS, TEXTS, max_size=2).map(
        lambda found: json.dumps(found) if found else ""
    ),
    created_at=st.integers(1, 4102444800),
)


@given(USERS)
def test_a_table_of_an_export_is_read_as_it_was(user: TransferredUser) -> None:
    opened = io.StringIO(newline="")
    writer = csv.DictWriter(opened, COLUMNS)
    writer.writeheader()
    writer.writerow(values_of(user))

    (row,) = table(opened.getvalue())

    assert row.user == user


@given(st.lists(USERS, max_size=3))
def test_lines_of_an_export_are_read_as_they_were(users: list[TransferredUser]) -> None:
    text = "".join(f"{line_of(user)}\n" for user in users)

    assert [row.user for row in json_rows(io.BytesIO(text.encode()))] == users


def test_a_line_that_is_too_long_is_one_refusal() -> None:
    long = b'{"email": "' + b"a" * 3_000_000 + b'"}'
    last = b'{"email": "a@example.com"}'

    rows = list(json_rows(io.BytesIO(long + b"\n" + last)))

    assert [(row.place, row.user is None) for row in rows] == [(1, True), (2, False)]


def test_a_line_that_is_no_user_is_told() -> None:
    rows = list(json_rows(io.BytesIO(b'{"email": "a@example.com"}\n\nnull x\n{"nobody": 1}\n')))

    assert [(row.place, row.user is None) for row in rows] == [(1, False), (3, True), (4, True)]


@pytest.mark.parametrize("part", Part)
def test_a_part_is_left_out(part: Part) -> None:
    user = only(
        realm.user(
            "ada",
            realm.argon2(),
            realm.one_time_codes("secret"),
            groups=["/a"],
            realmRoles=["b"],
            attributes={"c": ["1"]},
            federatedIdentities=[{"identityProvider": "p", "userId": "s"}],
        )
    )
    before = {name: getattr(user, name) for name in ("password_hash", "attributes")}

    leave_out(part, user)

    empty = {
        Part.USERNAMES: not user.user_values.preferred_username,
        Part.GROUPS: not user.groups,
        Part.ROLES: not user.roles,
        Part.ATTRIBUTES: not user.attributes,
        Part.LINKS: not user.links,
        Part.GENERATORS: not user.generators,
        Part.PASSWORDS: not user.password_hash,
    }
    assert all(before.values())
    assert {each for each, is_empty in empty.items() if is_empty} - {Part.GENERATORS} == {part} - {
        Part.GENERATORS
    }
    assert bool(user.generators) is (part not in {Part.GENERATORS, Part.PASSWORDS})
