"""axe-core, the checks of WCAG by Deque, in a page of the browser."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.browser.appearance import in_every_look
from tests.browser.chromium import Page
from tests.server_process import ROOT

HAS_NPM = shutil.which("npm") is not None
ABSENT = "there is no npm here, which fetches axe-core"

_LOCK = Path(__file__).parent / "axe"
_KEPT = ROOT / ".venv" / "axe"
_INSTALL_SECONDS = 300
# The levels A and AA of WCAG 2.2, and what is good practice besides. A live page replaces its parts, which have names; they
# have none while axe reads them.
_RUN = """(async () => {
  const parts = [...document.querySelectorAll("[data-part]")].map((part) => [part, part.dataset.part]);
  for (const [part] of parts) delete part.dataset.part;
  const { violations, incomplete } = await axe.run(document, { resultTypes: ["violations", "incomplete"] });
  for (const [part, name] of parts) part.dataset.part = name;
  return [...violations, ...incomplete.filter(({ id }) => id !== "color-contrast")].flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`))
    .concat(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["wider than the window"] : []);
})()"""


def axe() -> str:
    """Return the script, of the version in the lock file."""
    digest = hashlib.sha256((_LOCK / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = _KEPT / digest
    if not folder.exists():
        draft = _KEPT / f"{digest}-{os.getpid()}"
        shutil.copytree(_LOCK, draft)
        subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],  # noqa: S607  # wherever npm is
            cwd=draft,
            check=True,
            capture_output=True,
            timeout=_INSTALL_SECONDS,
        )
        try:
            draft.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(draft)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


async def violations(page: Page, script: str) -> dict[str, list[Any]]:
    """Return what axe-core finds in the page as it is shown now, in every look where it finds anything."""
    if not await page.run("'axe' in window"):
        await page.run(f"{script}\n;null")
    return await in_every_look(page, _RUN)
