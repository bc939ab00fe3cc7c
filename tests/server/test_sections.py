"""Sections of the configuration file."""

from pathlib import Path

import pytest

from server.platform.config import ConfigError, load
from server.sections import Config


def test_the_public_address_is_a_setting_of_the_provider_alone(tmp_path: Path) -> None:
    """`edge.public_url` was read nowhere."""
    file = tmp_path / "gnomon.toml"
    file.write_text('[identity]\npublic_url = "id.example.com"\n')

    assert load(Config, file, {}).identity.public_url == "id.example.com"
    with pytest.raises(ConfigError, match=r"^unknown key edge\.public_url; known: "):
        load(Config, file, {"GNOMON_EDGE__PUBLIC_URL": "id.example.com"})
