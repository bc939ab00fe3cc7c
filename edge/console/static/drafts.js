// Drafts of models that this tab keeps.

const section = document.getElementById("drafts");
const list = section.querySelector("ul");

const show = () => {
  const names = Object.keys(sessionStorage).filter((name) => name.startsWith(section.dataset.prefix));
  list.replaceChildren(
    ...names.map((name) => {
      const row = document.createElement("li");
      const link = document.createElement("a");
      link.href = name.slice(section.dataset.prefix.length);
      link.textContent = JSON.parse(sessionStorage.getItem(name)).file || link.pathname;
      const discard = document.createElement("button");
      discard.className = "quiet";
      discard.textContent = section.dataset.discard;
      discard.addEventListener("click", () => {
        sessionStorage.removeItem(name);
        show();
      });
      row.append(link, discard);
      return row;
    }),
  );
  section.hidden = !names.length;
};

show();
