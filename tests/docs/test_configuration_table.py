import os

import pytest

from tests.docs.configuration_table import BEGIN, END, configuration_table
from tests.docs.markdown import ROOT

README = ROOT / "README.md"


@pytest.mark.golden
def test_the_readme_says_what_can_be_configured() -> None:
    before, rest = README.read_text().split(BEGIN)
    table, after = rest.split(END)

    if os.environ.get("GNOMON_GOLDEN") == "rewrite":
        README.write_text(f"{before}{BEGIN}{configuration_table()}{END}{after}")
        return

    assert configuration_table() == table
