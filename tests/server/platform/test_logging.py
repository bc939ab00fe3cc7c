import json
import subprocess
import sys
from datetime import datetime, timedelta

import pytest

from tests.server_process import ROOT

FORGED = "nobody\n2030-01-01 INFO signed in\r\x1b[2J\u2028"
PROGRAM = """
import logging, sys
from server.platform.logging import LoggingConfig, configure
configure(LoggingConfig(format=sys.argv[1]))
logging.getLogger("sign_in").warning("sign-in refused", extra={"email": sys.argv[2]})
"""


def logged(form: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, form, FORGED], cwd=ROOT, check=True, capture_output=True
    )
    return ended.stderr.decode()


def test_what_somebody_typed_stays_in_its_place_of_a_line() -> None:
    line = logged("json")

    assert (line.count("\n"), "\r" in line, "\x1b" in line) == (1, False, False)
    assert json.loads(line)["email"] == FORGED


def test_a_line_has_one_time_in_utc() -> None:
    line = json.loads(logged("json"))

    assert line.keys() == {"timestamp", "levelname", "name", "message", "email"}
    assert datetime.fromisoformat(line["timestamp"]).utcoffset() == timedelta()


@pytest.mark.parametrize("part", ["nobody", "\x1b"])
def test_lines_for_people_hold_nothing_that_somebody_typed(part: str) -> None:
    line = logged("text")

    assert line.endswith("WARNING sign_in: sign-in refused\n")
    assert part not in line
