// The frame of every page: theme, and times in the time zone of the person.

const root = document.documentElement;
const button = document.getElementById("theme");
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);

const name = () => {
  const { light, useLight, dark, useDark } = button.dataset;
  button.textContent = isDark() ? light : dark;
  button.setAttribute("aria-label", isDark() ? useLight : useDark);
};

if (button) {
  button.hidden = false;
  name();
  prefersDark.addEventListener("change", name);
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    root.dataset.theme = theme;
    document.cookie = `GnomonTheme=${theme}; path=/console; max-age=31536000; samesite=lax`;
    name();
  });
}

const format = new Intl.DateTimeFormat(root.lang, { dateStyle: "medium", timeStyle: "medium" });
const hour = new Intl.DateTimeFormat(root.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const localize = () => {
  for (const time of document.querySelectorAll("time:not([title])")) {
    time.title = time.textContent;
    time.textContent = (time.className === "hour" ? hour : format).format(new Date(time.dateTime));
  }
};
localize();
document.addEventListener("renewed", localize);

// Drafts of models and templates belong to the person who leaves.
document.querySelector("form[action$='oidc/logout']")?.addEventListener("submit", () => {
  for (const name of Object.keys(sessionStorage)) if (/^gnomon-(draft|templates) /.test(name)) sessionStorage.removeItem(name);
});

// A narrow window shows part of a navigation.
for (const link of document.querySelectorAll("nav [aria-current]")) link.scrollIntoView({ block: "nearest", inline: "center" });

// One open menu at a time, closed by Escape and by a click elsewhere.
const menus = [...document.querySelectorAll("details.menu")];
const close = (except) => menus.filter((menu) => menu !== except).forEach((menu) => menu.removeAttribute("open"));
document.addEventListener("click", ({ target }) => close(target.closest("details.menu")));
document.addEventListener("keydown", ({ key }) => {
  const open = menus.find((menu) => menu.open);
  if (key === "Escape" && open) {
    close();
    open.querySelector("summary").focus();
  }
});
