import pytest

from tests.docs.command_table import BEGIN, END, command_table
from tests.docs.generated_part import assert_generated
from tests.docs.markdown import ROOT


@pytest.mark.golden
def test_the_page_lists_every_command_with_its_arguments() -> None:
    assert_generated(ROOT / "docs/command-line.md", BEGIN, END, command_table())
