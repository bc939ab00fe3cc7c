// One box chooses all rows of the page.

const all = document.getElementById("all-rows");
const rows = [...document.querySelectorAll("[name=chosen]")];

if (all) {
  all.hidden = false;
  all.addEventListener("change", () => rows.forEach((row) => (row.checked = all.checked)));
  document.addEventListener("change", () => {
    const count = rows.filter(({ checked }) => checked).length;
    all.checked = count === rows.length;
    all.indeterminate = count > 0 && count < rows.length;
  });
}
