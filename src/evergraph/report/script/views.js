// What is shown is written in the address: a link shows the same, and the back button works.
const articles = new Map(all("article").map((article) => [article.id, article]));
const picker = document.getElementById("data");
const first = picker?.options[0]?.value;
const tabs = all('[role="tab"]');
const cache = new WeakMap();
let before = {};

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  const named = decodeURIComponent(location.hash.slice(1)); // a plain link to a data set
  const data = articles.has(words.get("data")) ? words.get("data") : articles.has(named) ? named : first;
  const article = articles.get(data), tests = article.dataset.tests.split(" ");
  const chosen = (key) => (words.has(key) ? new Set(words.getAll(key)) : null);
  const view = one(`section[data-view="${CSS.escape(words.get("view") ?? "")}"]`, article) ? words.get("view") : "overview";
  return {
    data, view, test: tests.includes(words.get("test")) ? words.get("test") : article.dataset.test,
    method: chosen("method"), backbone: chosen("backbone"), rows: words.get("rows") === "all" ? "all" : "best",
    a: words.get("a"), b: words.get("b"), paused: words.get("paused"),
  };
}
function writeAddress(change) {
  const state = { ...readAddress(), ...change }, words = new URLSearchParams();
  words.set("data", state.data);
  if (state.view !== "overview") words.set("view", state.view);
  if (state.test !== articles.get(state.data).dataset.test) words.set("test", state.test);
  for (const key of ["method", "backbone"]) for (const value of state[key] ?? []) words.append(key, value);
  if (state.rows === "all") words.set("rows", "all");
  for (const key of ["a", "b", "paused"]) if (state[key]) words.set(key, state[key]);
  if (`#${words}` !== location.hash) location.hash = words;
}

function setControls(state, article, groups) {
  picker.value = state.data;
  const tests = article.dataset.tests.split(" ");
  for (const radio of all('#tests input')) {
    radio.checked = radio.value === state.test;
    radio.disabled = !tests.includes(radio.value);
  }
  for (const box of all("details.filter")) {
    const key = box.dataset.filter, here = new Set(groups.map((group) => group[key])), chosen = state[key];
    const inputs = all("input", box);
    box.hidden = new Set(groups.map((group) => group[key]).filter(Boolean)).size < 2 && chosen === null;
    for (const input of inputs) {
      input.checked = chosen === null || chosen.has(input.value);
      input.closest("label").classList.toggle("absent", !here.has(input.value));
    }
    one(".chosen", box).textContent = chosen === null ? "all" : chosen.size === 1 ? [...chosen][0] : `${inputs.filter((input) => input.checked).length} of ${inputs.length}`;
  }
  for (const tab of tabs) {
    const section = one(`section[data-view="${tab.dataset.view}"]`, article), on = tab.dataset.view === state.view;
    tab.hidden = !section;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    if (section) tab.setAttribute("aria-controls", section.id);
  }
}

// Three short answers: the best, and the cheapest of those that are nearly as good. Of equals the one with fewer bytes counts,
// then the one with less time.
const NEARLY = 5;
function answer(article, groups, test) {
  const own = groups.filter((group) => !group.bound && group.main[test] !== null)
    .sort((a, b) => b.main[test] - a.main[test] || a.kept - b.kept || a.seconds - b.seconds);
  const bound = groups.find((group) => group.bound && group.main[test] !== null);
  const good = own.filter((group) => group.main[test] >= own[0].main[test] - NEARLY);
  const least = (key) => good.reduce((best, group) => (group[key] < best[key] ? group : best), good[0]);
  const cards = own.length ? [["Most accurate", own[0]], [`Fewest bytes within ${NEARLY} points`, least("kept")], [`Least time within ${NEARLY} points`, least("seconds")]] : [];
  if (bound) cards.push(["Bound: learns from all data again", bound]);
  one(".answer", article).replaceChildren(...cards.map(([title, group]) => html("div", {}, html("p", { class: "title" }, title), html("p", { class: "winner" }, group.name),
    html("p", { class: "price" }, html("b", {}, `${text(group.main[test])} %`), " · ", html("span", {}, group.bound ? "all data" : bytesText(group.kept)), " · ", html("span", {}, secondsText(group.seconds))))));
  const tested = testedWords(groups, [test]), untested = groups.find((group) => group.bound);
  const missing = untested && !bound ? ` The bound, ${untested.method}, was not.` : "";
  say(one('[data-tested="one"]', article), tested && `${tested}${missing}${own.length ? " The others are not compared here." : ""}`);
}

// How many of the methods shown were tested so; nothing where all were.
const HOW = { global: "globally", local: "locally" };
function testedWords(groups, tests) {
  const tested = groups.filter((group) => tests.every((test) => group.main[test] !== null));
  const [found, shown] = [tested, groups].map((some) => new Set(some.map((group) => group.method)).size);
  if (found === shown) return "";
  const how = `${tests.length > 1 ? "both " : ""}${tests.map((test) => HOW[test]).join(" and ")}`;
  if (shown === 1) return `This method was not tested ${how}.`;
  return `${found || "None"} of ${shown} methods ${found < 2 ? "was" : "were"} tested ${how}.`;
}
function say(note, words) {
  note.textContent = words;
  note.hidden = !words;
}

function apply() {
  if (!articles.size || location.hash === "#main") return;
  const state = readAddress(), article = articles.get(state.data);
  if (!cache.has(article)) cache.set(article, groupsOf(article));
  const groups = cache.get(article);
  setControls(state, article, groups);
  for (const other of articles.values()) other.hidden = other !== article;
  for (const section of all("section.view", article)) {
    section.hidden = section.dataset.view !== state.view;
    for (const [key, value] of [["role", "tabpanel"], ["aria-labelledby", `tab-${section.dataset.view}`]]) section.setAttribute(key, value);
  }
  document.title = `${article.dataset.title} · evergraph`;
  const passes = (row) => (state.method?.has(row.method) ?? true) && (!row.backbone || (state.backbone?.has(row.backbone) ?? true));
  const passing = groups.filter(passes), best = bestOfMethods(passing);
  const shown = state.rows === "all" ? passing : best, keys = new Set(shown.map((group) => group.at));
  for (const row of all("tbody tr[data-g], details.group", article)) row.hidden = !keys.has(row.dataset.g) && !row.closest('[data-by-group="0"]');
  one(".empty", article).hidden = passing.length > 0;
  for (const more of all("[data-rows]", article)) {
    more.hidden = best.length === passing.length;
    more.textContent = state.rows === "all" ? "Show only the best row of each method" : `Show all ${passing.length} rows, with other settings`;
  }
  const table = one("table.methods", article);
  if (article.dataset.sorted !== state.test) sortBy(table, column(table, `main-${state.test}`), true);
  article.dataset.sorted = state.test;
  article.dataset.shown = state.test;
  document.documentElement.style.setProperty("--bar", `${one(".bar").getBoundingClientRect().height}px`);
  paint(state, article, shown, passes);
  if (before.data !== undefined && (before.data !== state.data || before.view !== state.view)) scrollTo(0, 0);
  before = state;
}

// Draw what is visible.
function paint(state, article, shown, passes) {
  const { test } = state;
  if (state.view === "overview") {
    const front = undominated(shown, test);
    for (const group of cache.get(article)) group.row.classList.toggle("front", front.includes(group));
    answer(article, shown, test);
    const drawn = (plot) => one(`figure[data-plot="${plot}"]`, article);
    const unnamed = ["kept", "seconds"].map((plot) => costChart(drawn(plot), shown, test, plot, front));
    one("[data-unnamed]", article).hidden = !unnamed.some(Boolean);
    if (drawn("tests")) {
      testsChart(drawn("tests"), shown, test);
      one(".distance", article).hidden = drawn("tests").hidden;
      say(one('[data-tested="both"]', article), testedWords(shown, ["global", "local"]));
    }
  }
  if (state.view === "tasks") for (const holder of all(".lines", article)) {
    const byGroup = holder.dataset.byGroup === "1";
    holder.hidden = byGroup && holder.dataset.test !== test;
    const keys = new Set(shown.map((group) => group.at));
    if (!holder.hidden) lineChart(holder, (row) => (byGroup ? keys.has(row.dataset.g) : passes({ method: row.dataset.method, backbone: row.dataset.backbone })));
  }
  if (state.view === "compare") compare(article, state, cache.get(article));
  fit(article);
}

picker?.addEventListener("change", () => writeAddress({ data: picker.value, a: null, b: null }));
for (const radio of all("#tests input")) radio.addEventListener("change", () => writeAddress({ test: radio.value }));
tabs.forEach((tab) => {
  tab.addEventListener("click", () => writeAddress({ view: tab.dataset.view }));
  tab.addEventListener("keydown", (event) => {
    const open = tabs.filter((other) => !other.hidden), at = open.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = open.at(to % open.length);
    writeAddress({ view: next.dataset.view });
    next.focus();
  });
});
for (const box of all("details.filter")) {
  const key = box.dataset.filter, inputs = all("input", box);
  const write = () => writeAddress({ [key]: inputs.every((input) => input.checked) ? null : new Set(inputs.filter((input) => input.checked).map((input) => input.value)) });
  const set = (on) => { inputs.forEach((input, at) => { input.checked = on || at === 0; }); write(); };
  inputs.forEach((input) => input.addEventListener("change", () => {
    if (inputs.every((other) => !other.checked)) input.checked = true; // at least one stays
    write();
  }));
  one("[data-all]", box).addEventListener("click", () => set(true));
  one("[data-none]", box).addEventListener("click", () => set(false));
}
document.addEventListener("click", (event) => {
  for (const box of all("details.filter[open]")) if (!box.contains(event.target)) box.open = false;
  const button = event.target.closest?.("button");
  if (button?.matches("[data-rows]")) writeAddress({ rows: readAddress().rows === "all" ? "best" : "all" });
  if (button?.matches("[data-clear]")) writeAddress({ method: null, backbone: null });
  if (button?.matches("[data-swap]")) {
    const [a, b] = all("select[data-side]", button.closest("section")).map((select) => select.value);
    writeAddress({ a: b, b: a });
  }
});
for (const select of all("select[data-side]")) select.addEventListener("change", () => writeAddress({ [select.dataset.side]: select.value }));
one(".skip").addEventListener("click", (event) => { event.preventDefault(); document.getElementById("main").focus(); });
addEventListener("hashchange", apply);
document.addEventListener("toggle", (event) => { if (event.target.open) fit(event.target); }, true);
let width = innerWidth, due = 0;
addEventListener("resize", () => {
  if (innerWidth === width) return; // phones change the height while they scroll
  width = innerWidth;
  cancelAnimationFrame(due);
  due = requestAnimationFrame(apply);
});
apply();
