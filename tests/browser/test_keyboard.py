"""The console by keyboard alone: every control is reached by Tab and shows its focus, and a task is worked off."""

from typing import Any

from edge.console.identity.kinds import KINDS
from tests.browser.chromium import Page
from tests.browser.console import ASKED, SHOWN, api, started, visit
from tests.browser.test_console_tasks import deployed, task_of
from tests.server_process import Addresses

LISTS = ("", "processes", "instances", "tasks?list=all", "decisions", "models/expression", "audit")
MOST_TABS = 400
# Controls that a user of the keyboard needs; a radio button is reached with arrow keys in its group.
# The markup of a live page changes while the test goes through it, so controls have names.
NAME = "((each) => [each.localName, each.name ?? '', each.textContent.trim()].join(' '))"
CONTROLS = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter((each) =>
  each.checkVisibility({ visibilityProperty: true }) && !each.disabled && each.type !== "hidden" && each.type !== "radio"
  && each.tabIndex >= 0)"""
BEGIN = "(document.activeElement.blur(), window.reached = new Set(), null)"
# Returns what is wrong with the focused element, "" for nothing. Browsers mark the focus within an input of a time.
REACH = f"""(() => {{
  const focused = document.activeElement;
  if (focused === document.body) return "end";
  window.reached.add({NAME}(focused));
  const {{ outlineStyle, outlineWidth, boxShadow }} = getComputedStyle(focused);
  const isShown = (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none";
  return isShown || focused.type === "datetime-local" ? "" : `no focus: ${{focused.outerHTML.slice(0, 120)}}`;
}})()"""
MISSED = f"{CONTROLS}.map({NAME}).filter((name) => !window.reached.has(name))"
FOCUSED = "document.activeElement.matches({!r})"


async def unreachable(page: Page) -> list[Any]:
    """Return controls that Tab does not reach, and elements whose focus cannot be seen."""
    await page.run(BEGIN)
    faults = []
    for _ in range(MOST_TABS):
        await page.press("Tab")
        found = await page.run(REACH)
        if found == "end":
            break
        if found:
            faults.append(found)
    return [*faults, *await page.run(MISSED)]


async def tab_to(page: Page, selector: str) -> None:
    for _ in range(MOST_TABS):
        if await page.run(FOCUSED.format(selector)):
            return
        await page.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


async def test_every_control_of_the_console_is_reached_and_shows_its_focus(
    page: Page, addresses: Addresses
) -> None:
    stuck = started(addresses.http, "keys", name="Keys", source="=assert(missing, missing != null)")
    instance = stuck["processInstanceKey"]
    paths = (
        *LISTS,
        f"processes/{stuck['processDefinitionKey']}",
        f"instances/{instance}",
        f"instances/{instance}/modification",
        *(f"identity/{kind}" for kind in KINDS),
        "identity/new/users",
    )
    await visit(page, f"{addresses.http}/console/default/")
    found = {}
    for path in paths:
        await page.goto(f"{addresses.http}/console/default/{path}")
        found[path] = await unreachable(page)

    assert {path: faults for path, faults in found.items() if faults} == {}


async def test_a_person_signs_in_and_works_a_task_without_a_mouse(page: Page, addresses: Addresses) -> None:
    with api(addresses.http) as session:
        deployed(session, "by-keyboard", name="By keyboard")
        task = task_of(session, "by-keyboard", person={"name": "Ada"})
    await page.goto(f"{addresses.http}/console/default/tasks/{task['userTaskKey']}")
    await page.until(ASKED)
    await tab_to(page, "#email")
    await page.insert("admin@localhost")
    await tab_to(page, "#password")
    await page.insert("administrator")
    await page.press("Enter")
    await page.until(SHOWN)
    await tab_to(page, "form[action$='/claim'] button")
    await page.press("Enter")
    await page.until("document.querySelector('.done')?.textContent === 'The task is yours.'")
    await tab_to(page, "form[action$='/completion'] button")
    await page.press("Enter")
    await page.until("document.querySelector('.done')?.textContent === 'The task is completed.'")
    with api(addresses.http) as session:
        found = session.get(f"/v2/user-tasks/{task['userTaskKey']}").raise_for_status().json()

    assert found["state"] in {"COMPLETED", "COMPLETING"}
