// Every table as CSV, every picture as SVG: made here and saved by the browser, also from a file on disk.
function save(name, type, content) {
  const link = html("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
const fileName = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

// The rows shown, with unrounded values; a column with deviations is followed by one of them.
function tableRows(table) {
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const columns = heads.flatMap((head, at) => {
    if (head.classList.contains("bars")) return [];
    const name = head.dataset.csv ?? head.textContent.trim();
    const value = (cell) => cell.dataset.v ?? (cell.classList.contains("none") ? "" : cell.textContent.trim());
    const found = [[name, (row) => value(row.cells[at])]];
    if (rows.some((row) => row.cells[at].dataset.s !== undefined)) found.push([`${name} (std)`, (row) => row.cells[at].dataset.s ?? ""]);
    return found;
  });
  return [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, read]) => read(row)))];
}
const csv = (rows) => rows.map((row) => row.map(quoted).join(",") + "\r\n").join("");

// Styles are written into the copy, with colours that every program knows.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "opacity",
  "font-size", "font-weight", "text-anchor"];
const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const known = new Map();
function plainColour(colour) {
  if (!/^(color|oklab|oklch|lab|lch)/.test(colour)) return colour;
  if (!known.has(colour)) {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b] = pixel.getImageData(0, 0, 1, 1).data;
    known.set(colour, `rgb(${r}, ${g}, ${b})`);
  }
  return known.get(colour);
}
function svgText(svg, title) {
  const copy = svg.cloneNode(true), [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const from = [svg, ...all("*", svg)], to = [copy, ...all("*", copy)];
  from.forEach((node, at) => {
    const style = getComputedStyle(node);
    for (const name of STYLES) to[at].setAttribute(name, plainColour(style.getPropertyValue(name)));
    for (const name of ["class", "style", "tabindex", "data-tip"]) to[at].removeAttribute(name);
  });
  to.filter((node) => node.hasAttribute("hidden")).forEach((node) => node.remove());
  const paper = getComputedStyle(document.body).backgroundColor, ink = getComputedStyle(document.body).color;
  copy.prepend(
    draw("title", {}, title), draw("rect", { x: 0, y: -28, width, height: height + 28, fill: paper }),
    draw("text", { x: 8, y: -9, fill: ink, "font-size": width > 600 ? 14 : 11, "font-weight": 600 }, title),
  );
  for (const [key, value] of Object.entries({ xmlns: SVG, width, height: height + 28, viewBox: `0 -28 ${width} ${height + 28}`, "font-family": "system-ui, sans-serif" })) copy.setAttribute(key, value);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-csv], [data-svg]");
  if (button?.tagName !== "BUTTON") return;
  if ("csv" in button.dataset) {
    const table = one("table", button.closest(".sheet"));
    save(`${fileName(table.getAttribute("aria-label"))}.csv`, "text/csv;charset=utf-8", csv(tableRows(table)));
  } else {
    const box = button.closest("[data-name]"), svg = box.matches("svg") ? box : one("svg", box);
    if (svg) save(`${fileName(box.dataset.name)}.svg`, "image/svg+xml", svgText(svg, box.dataset.name));
  }
});
