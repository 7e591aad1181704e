// Tables: a heading sorts by its column, first from high to low for numbers; empty cells stay last.
function sortBy(table, at, down) {
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: row.cells[at].dataset.v ?? "" }));
  const numeric = rows.every(({ key }) => key === "" || !Number.isNaN(Number(key)));
  const falling = down ?? numeric;
  rows.sort((a, b) => {
    if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
    return (numeric ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true })) * (falling ? -1 : 1);
  });
  for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
  table.tHead.rows[0].cells[at].setAttribute("aria-sort", falling ? "descending" : "ascending");
  table.tBodies[0].append(...rows.map(({ row }) => row));
}
document.addEventListener("click", (event) => {
  const head = event.target.closest?.("table.sortable thead button")?.closest("th");
  if (!head) return;
  const before = head.getAttribute("aria-sort");
  sortBy(head.closest("table"), head.cellIndex, before ? before === "ascending" : undefined);
});
const column = (table, key) => [...table.tHead.rows[0].cells].findIndex((head) => head.dataset.key === key);

// The groups of a data set, from the rows of its first table.
function groupsOf(article) {
  const table = one("table.methods", article);
  const number = (row, key) => {
    const at = column(table, key), cell = at < 0 ? null : row.cells[at];
    return cell?.dataset.v === undefined ? null : Number(cell.dataset.v);
  };
  const std = (row, key) => {
    const at = column(table, key), found = at < 0 ? undefined : row.cells[at].dataset.s;
    return found === undefined ? null : Number(found);
  };
  return [...table.tBodies[0].rows].map((row) => ({
    row, at: row.dataset.g, method: row.dataset.method, backbone: row.dataset.backbone, name: row.dataset.name,
    validation: Number(row.dataset.val), seeds: Number(row.dataset.seeds),
    main: { global: number(row, "main-global"), local: number(row, "main-local") },
    std: { global: std(row, "main-global"), local: std(row, "main-local") },
    kept: number(row, "kept"), seconds: number(row, "seconds"),
    keptText: row.cells[column(table, "kept")].textContent.trim(), bound: number(row, "kept") === null,
  }));
}

// The group of each method that is best on validation, among those with the most seeds, as the tables in Python choose it.
function bestOfMethods(groups) {
  const best = new Map();
  for (const group of [...groups].sort((a, b) => a.at - b.at)) {
    const known = best.get(group.method);
    const better = !known || group.seeds > known.seeds || (group.seeds === known.seeds && group.validation > known.validation);
    if (better) best.set(group.method, group);
  }
  return [...best.values()];
}

// Groups that no other one equals or beats in accuracy, bytes and time at once.
function undominated(groups, test) {
  const own = groups.filter((group) => !group.bound && group.main[test] !== null);
  const beats = (a, b) => a.main[test] >= b.main[test] && a.kept <= b.kept && a.seconds <= b.seconds &&
    (a.main[test] > b.main[test] || a.kept < b.kept || a.seconds < b.seconds);
  return own.filter((group) => !own.some((other) => beats(other, group)));
}

// A table that is wider than its box scrolls in it, by the keyboard too, and says so; else its heading may stay.
function fit(root) {
  for (const box of all(".scroll", root)) {
    box.classList.remove("wide");
    const wide = box.scrollWidth > box.clientWidth + 1;
    box.classList.toggle("wide", wide);
    const hint = one(".hint", box.closest(".sheet"));
    if (hint) hint.hidden = !wide;
    for (const [name, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", one("table", box).getAttribute("aria-label")]]) {
      if (wide) box.setAttribute(name, value); else box.removeAttribute(name);
    }
  }
}
