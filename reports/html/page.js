"use strict";

// A click on a heading sorts its table: numbers from the largest, text from A.
for (const table of document.querySelectorAll("table.sortable"))
  table.tHead.addEventListener("click", event => {
    const head = event.target.closest("th"), i = head.cellIndex, numbers = head.classList.contains("n");
    const orders = numbers ? ["descending", "ascending"] : ["ascending", "descending"];
    const order = orders[head.getAttribute("aria-sort") === orders[0] ? 1 : 0], up = order === "ascending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const value = row => row.cells[i].dataset.n ?? row.cells[i].textContent;
    const compare = (a, b) => numbers ? value(a) - value(b) : value(a).localeCompare(value(b), undefined, { numeric: true });
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => (up ? 1 : -1) * compare(a, b)));
  });

// A search hides the rows without its text. A row with `data-for` is shown with the element that it
// names, such as the source of its kernel, and has that one's text, too.
for (const search of document.querySelectorAll("input[data-filter]")) {
  const rows = [...document.getElementById(search.dataset.filter).querySelectorAll(":scope > tbody > tr, :scope > li")];
  const others = rows.map(row => document.getElementById(row.dataset.for));
  const texts = rows.map((row, i) => (row.textContent + (others[i]?.textContent ?? "")).toLowerCase());
  const filter = () => {
    const wanted = search.value.toLowerCase();
    rows.forEach((row, i) => {
      row.hidden = !texts[i].includes(wanted);
      if (others[i]) others[i].hidden = row.hidden;
    });
    const shown = rows.filter(row => !row.hidden).length;
    search.closest(".search").querySelector("output").textContent = shown + " of " + rows.length;
  };
  search.addEventListener("input", filter);
  filter();
}

// A row that stands for a box of a drawing marks it.
for (const [name, on] of [["mouseover", true], ["mouseout", false]])
  document.addEventListener(name, event => {
    const row = event.target.closest("[data-box]");
    if (row) document.getElementById(row.dataset.box)?.classList.toggle("shown", on);
  });

// A link to something that is folded unfolds it.
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
addEventListener("hashchange", unfold);
unfold();
