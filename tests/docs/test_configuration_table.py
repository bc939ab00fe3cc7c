import pytest

from tests.docs.configuration_table import BEGIN, END, configuration_table
from tests.docs.generated_part import assert_generated
from tests.docs.markdown import ROOT


@pytest.mark.golden
def test_the_page_lists_every_setting_with_its_default() -> None:
    assert_generated(ROOT / "docs/configuration.md", BEGIN, END, configuration_table())
