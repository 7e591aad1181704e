// What all charts share: they are drawn in pixels of the window, so that text has the same size on every screen.
const SHAPES = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "M-3.6 -3.6h7.2v7.2h-7.2z", "M0 -4.8L4.5 3.4H-4.5z", "M0 -5L5 0L0 5L-5 0z"];
const DASHES = [null, "7 4", "2 4"];
const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "600 12px system-ui, sans-serif";
const widthOf = (words) => ruler.measureText(words).width;
// A text that is cut where it is wider than there is room.
function cut(words, room) {
  if (widthOf(words) <= room) return words;
  let kept = words;
  while (kept && widthOf(`${kept}…`) > room) kept = kept.slice(0, -1);
  return `${kept}…`;
}

function frameOf(figure, height, left = 50) {
  const width = Math.max(260, Math.floor(one(".canvas", figure).clientWidth));
  return { width, height, left, right: width - 14, top: 12, bottom: height - 40 };
}
function picture(figure, frame, label) {
  const svg = draw("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, width: frame.width, height: frame.height, role: "img", "aria-label": label });
  one(".canvas", figure).replaceChildren(svg);
  return svg;
}

// Low end, high end and step of an axis of percentages.
function percentAxis(values) {
  const high = Math.max(...values), low = Math.min(...values, high - 10);
  const step = [2, 5, 10, 20].find((size) => (high - low) / size <= 5) ?? 20;
  const first = Math.max(0, Math.floor(low / step) * step);
  return [first, Math.max(first + step, Math.min(100, Math.ceil(high / step) * step)), step];
}
const linear = (low, high, from, to) => (value) => from + (high > low ? (value - low) / (high - low) : 0.5) * (to - from);
function range(low, high, step) {
  const found = [];
  for (let value = low; value <= high + 1e-9; value += step) found.push(value);
  return found;
}

function axes(svg, frame, { xTicks, yTicks, xLabel, yLabel }) {
  for (const [y, name] of yTicks) {
    svg.append(draw("line", { class: "grid", x1: frame.left, x2: frame.right, y1: y, y2: y }));
    svg.append(draw("text", { class: "end", x: frame.left - 7, y, dy: "0.35em" }, name));
  }
  for (const [x, name] of xTicks) svg.append(draw("text", { class: "mid", x, y: frame.bottom + 17 }, name));
  const middle = (frame.top + frame.bottom) / 2;
  svg.append(draw("text", { class: "mid", x: (frame.left + frame.right) / 2, y: frame.height - 5 }, xLabel));
  if (yLabel) svg.append(draw("text", { class: "mid", x: 12, y: middle, transform: `rotate(-90 12 ${middle})` }, yLabel));
}

// Arrow keys and the pointer go from place to place; `tell` shows what is there and `leave` takes it away.
function walk(svg, count, nearest, tell, leave) {
  let at = -1;
  const go = (index) => { at = Math.min(count - 1, Math.max(0, index)); tell(at); };
  const away = () => { leave(); hide(); };
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("aria-label", `${svg.getAttribute("aria-label")}; arrow keys show the values`);
  for (const kind of ["pointermove", "pointerdown"]) svg.addEventListener(kind, (event) => {
    const area = svg.getBoundingClientRect();
    const found = nearest(event.clientX - area.left, event.clientY - area.top);
    if (found === null) away(); else { at = found; tell(found, event.clientY); }
  });
  svg.addEventListener("pointerleave", away);
  svg.addEventListener("blur", away);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); go(at + step); }
  });
}
function nearestTo(places, reach) {
  return (x, y) => {
    const gaps = places.map((place) => (place.x - x) ** 2 + (place.y - y) ** 2), least = Math.min(...gaps);
    return least <= reach ** 2 ? gaps.indexOf(least) : null;
  };
}
