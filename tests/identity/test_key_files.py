from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from identity.jose.algorithms import SigningAlgorithm
from identity.key_files import KeyFileError, stored_key_set
from server.platform.call import TenantId

TENANT = TenantId("default")


def test_keys_that_were_made_are_read_again(tmp_path: Path) -> None:
    first = stored_key_set(tmp_path / "keys", TENANT, lambda: "k-1")

    again = stored_key_set(tmp_path / "keys", TENANT, lambda: "k-2")

    assert [key.public_jwk for key in first.keys] == [key.public_jwk for key in again.keys]
    token = first.signing_key(SigningAlgorithm.RS256).sign(b"{}")
    assert token == again.signing_key(SigningAlgorithm.RS256).sign(b"{}")


def test_those_who_begin_at_once_agree(tmp_path: Path) -> None:
    kids = count()
    with ThreadPoolExecutor(4) as workers:
        made = [workers.submit(stored_key_set, tmp_path, TENANT, lambda: f"k-{next(kids)}") for _ in range(4)]

    assert len({keys.result().keys[0].kid for keys in made}) == 1


def test_tenants_have_keys_of_their_own(tmp_path: Path) -> None:
    kids = count()

    both = [stored_key_set(tmp_path, TenantId(name), lambda: f"k-{next(kids)}") for name in ("a", "b")]

    assert both[0].keys[0].public_jwk.n != both[1].keys[0].public_jwk.n


def test_only_the_owner_reads_them(tmp_path: Path) -> None:
    stored_key_set(tmp_path / "keys", TENANT, lambda: "k-1")

    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "keys" / "default.json").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in (tmp_path / "keys").iterdir()] == ["default.json"]


@pytest.mark.parametrize(
    "content", ["", "{}", '{"keys": [{"alg": "RS256"}]}', '{"keys": [{"kid": "a", "alg": "XX"}]}']
)
def test_a_file_of_another_kind_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "default.json").write_text(content)

    with pytest.raises(KeyFileError, match=r"default\.json"):
        stored_key_set(tmp_path, TENANT, lambda: "k-1")
