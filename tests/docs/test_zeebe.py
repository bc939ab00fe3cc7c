"""docs/zeebe.md names the RPC that each one of Zeebe's gateway stands for, and pyzeebe's settings are valid Python."""

import ast
import re
from pathlib import Path

from server import gateway
from server.platform.policy import policies_of
from tests.docs.markdown import blocks

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "zeebe.md").read_text()
ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \| `(\w+/\w+)` \|$", re.MULTILINE)


def test_the_page_names_what_each_rpc_stands_for() -> None:
    listed = {name: own for names, own in ROW.findall(PAGE) for name in re.findall(r"\w+", names)}

    assert listed == {
        policy.name: policy.stands_for.removeprefix("/gnomon.engine.v1.")
        for policy in policies_of(gateway.SERVICE).values()
    }


def test_the_settings_of_pyzeebe_are_python() -> None:
    (block,) = blocks("docs/zeebe.md", "python")

    assert ast.parse(block).body
