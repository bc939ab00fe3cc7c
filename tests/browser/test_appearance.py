"""Pages in light and dark, and in a narrow window: the parts of WCAG 2.2 that a script can check."""

from pathlib import Path

import pytest

from identity.delivery.mail.config import EmailConfig
from identity.directory.config import UsersConfig
from tests.browser.chromium import Page
from tests.browser.site import Site, site
from tests.browser.test_codes import ASKED, TOLD, add_program, give
from tests.browser.test_sign_in import ARRIVED, sign_in

# 1.1.1 and 4.1.2 names, 1.3.1 structure, 1.4.3 contrast, 1.4.10 reflow, 2.4.2 title, 3.1.1 language.
FAULTS = """(() => {
  const faults = [];
  const seen = (element) => element.checkVisibility({ visibilityProperty: true });
  const all = [...document.querySelectorAll("body *")].filter(seen);

  if (!document.documentElement.lang) faults.push("no language");
  if (!document.title) faults.push("no title");
  if (all.filter(({ tagName }) => tagName === "H1").length !== 1) faults.push("not one heading of the first level");
  if (all.filter(({ tagName }) => tagName === "MAIN").length !== 1) faults.push("not one main part");
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) faults.push("wider than the window");

  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`twice: ${id}`);
  for (const element of all) {
    for (const name of ["aria-describedby", "aria-labelledby", "aria-controls"]) {
      for (const id of (element.getAttribute(name) ?? "").split(" ").filter(Boolean)) {
        if (!document.getElementById(id)) faults.push(`${name} of nothing: ${id}`);
      }
    }
    if (element.tagName === "IMG" && !element.hasAttribute("alt")) faults.push("an image without a text");
    if (element.tagName === "INPUT" && !element.labels.length) faults.push(`no label: ${element.id}`);
    if (["A", "BUTTON"].includes(element.tagName) && !(element.textContent.trim() || element.title)) faults.push("a control without a name");
  }

  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = rgba(getComputedStyle(each).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  for (const element of all) {
    const isText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!isText) continue;
    const [one, other] = [light(rgba(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${element.textContent.trim()}`);
  }
  return faults;
})()"""

PAGES = {
    "start": "/",
    "entry": "/auth/v1/",
    "refusal": "/auth/v1/oidc/token",
    "shared sign-in": "/auth/v1/sign-in",
    "forgotten password": "/auth/v1/users/request_reset",
    "registration": "/auth/v1/users/register",
    "another link": "/auth/v1/users/request_confirmation",
    "dead link": "/auth/v1/users/ada/email_confirm/nothing",
    "signed out": "/auth/v1/oidc/logout",
}
LOOKS = [
    pytest.param(1000, "light", id="light"),
    pytest.param(1000, "dark", id="dark"),
    pytest.param(320, "light", id="narrow"),
]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
async def test_every_page_can_be_read_and_used(page: Page, width: int, scheme: str, tmp_path: Path) -> None:
    letters = tmp_path / "letters"
    mail = EmailConfig(directory=letters, from_address="id@example.com", poll_interval_secs=1)
    users = UsersConfig(registration_enabled=True, preferred_username_required=True)
    async with site(users=users, email=mail) as provider:
        await page.emulate(width=width, scheme=scheme)
        found = {}
        for name, path in PAGES.items():
            await page.goto(f"{provider.origin}{path}")
            found[name] = await page.run(FAULTS)
        await page.goto(provider.authorization())
        found["sign-in"] = await page.run(FAULTS)
        is_dark = await page.run("matchMedia('(prefers-color-scheme: dark)').matches")

    assert {name: faults for name, faults in found.items() if faults} == {}
    assert is_dark is (scheme == "dark")


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
async def test_what_a_script_shows_can_be_read_and_used(
    page: Page, provider: Site, width: int, scheme: str
) -> None:
    await page.emulate(width=width, scheme=scheme)
    await sign_in(page, provider.authorization(), "wrong")
    await page.until("document.getElementById('error').textContent")
    of_wrong_password = await page.run(FAULTS)
    await sign_in(page, provider.authorization())
    await page.until(ARRIVED)
    await add_program(page, provider)
    await page.forget()
    await sign_in(page, provider.authorization())
    await page.until(ASKED)
    await give(page, "nonsense")
    await page.until(TOLD % "wrong")
    of_wrong_code = await page.run(FAULTS)

    assert (of_wrong_password, of_wrong_code) == ([], [])
