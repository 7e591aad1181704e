// Small helpers, and the box with values beside the pointer.
const SVG = "http://www.w3.org/2000/svg";
const tip = document.getElementById("tip");
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) node.setAttribute(key, value);
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}
const draw = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

// Text only, placed beside a point and kept inside the window.
function show(x, y, title, rows = []) {
  const lines = rows.map((row) => html("div", {}, ...row.map((part) => html("span", {}, part))));
  tip.replaceChildren(html(rows.length ? "b" : "span", {}, title), ...lines);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 14 + width > innerWidth - 8 ? x - 14 - width : x + 14;
  const top = y + 14 + height > innerHeight - 8 ? y - 14 - height : y + 14;
  tip.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
}
const hide = () => { tip.hidden = true; };

// A number as in the tables: a true minus sign.
const text = (value, digits = 1) => value.toFixed(digits).replace("-", "−");
const spread = (mean, std) => text(mean) + (std === null ? "" : ` ± ${text(std)}`);

function heatText(cell) {
  const table = cell.closest("table"), head = table.tHead.rows[0].cells[cell.cellIndex];
  const std = cell.dataset.s === undefined ? null : Number(cell.dataset.s);
  return `${head.dataset.csv}: ${spread(Number(cell.dataset.v), std)} %`;
}
document.addEventListener("pointermove", (event) => {
  const target = event.target.closest?.("[data-tip], .heat[data-v]");
  if (target) show(event.clientX, event.clientY, target.dataset.tip ?? heatText(target));
  else if (!event.target.closest?.(".canvas svg, .cloud")) hide();
});
for (const kind of ["wheel", "touchmove"]) document.addEventListener(kind, hide, { passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  hide();
  for (const open of all("details.filter[open]")) {
    const inside = open.contains(document.activeElement);
    open.open = false;
    if (inside) one("summary", open).focus();
  }
});
