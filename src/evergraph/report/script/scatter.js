// Accuracy over a cost on a logarithmic axis, and the local beside the global test.
const BYTES = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
function bytesText(value) {
  const [unit, size] = BYTES.find(([, least]) => value >= least) ?? ["B", 1];
  return value ? `${Number((value / size).toPrecision(3))} ${unit}` : "0";
}
const secondsText = (value) => (value > 0 && value < 0.01 ? "<0.01 s" : `${(value < 9.95 ? Number(value.toPrecision(2)) : Math.round(value)).toLocaleString("en")} s`);

function costChart(figure, groups, test, key, front) {
  const own = groups.filter((group) => !group.bound && group.main[test] !== null);
  const bounds = groups.filter((group) => group.bound && group.main[test] !== null);
  figure.hidden = own.length < 2;
  if (figure.hidden) return;
  const frame = frameOf(figure, 270);
  const svg = picture(figure, frame, `${figure.dataset.name}, ${test} test`);
  const costs = own.map((group) => group[key]), positive = costs.filter((cost) => cost > 0);
  const least = positive.length ? Math.min(...positive) : 1, zero = costs.some((cost) => cost <= 0);
  const first = Math.floor(Math.log10(least)) - Number(zero), last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...costs, least) * 1.01)));
  const [low, high, step] = percentAxis([...own, ...bounds].map((group) => group.main[test]));
  const x = linear(first, last, frame.left + 12, frame.right - 12), y = linear(low, high, frame.bottom, frame.top);
  const name = (power) => (zero && power === first ? "0" : key === "kept" ? bytesText(10 ** power) : String(Number((10 ** power).toPrecision(1))));
  const every = Math.ceil((last - first + 1) / Math.max(2, Math.floor(frame.width / 70)));
  axes(svg, frame, {
    xTicks: range(first, last, 1).filter((power) => (power - first) % every === 0).map((power) => [x(power), name(power)]),
    yTicks: range(low, high, step).map((value) => [y(value), value]),
    xLabel: figure.dataset.x, yLabel: `accuracy, ${test}, %`,
  });
  const points = own.map((group) => ({ group, x: x(Math.log10(Math.max(group[key], 10 ** first))), y: y(group.main[test]), best: front.includes(group),
    label: cut(group.name, (frame.right - frame.left) / 2) }));
  const rising = [];
  for (const point of [...points].sort((a, b) => a.x - b.x || a.y - b.y)) if (!rising.length || point.y < rising.at(-1).y) rising.push(point);
  svg.append(draw("path", { class: "stair", d: `M${rising.map((point, at) => (at ? `H${point.x}V${point.y}` : `${point.x} ${point.y}`)).join("")}H${frame.right}` }));
  const taken = points.map((point) => box(point.x - 7, point.y - 7, 14, 14));
  for (const group of bounds) {
    const height = y(group.main[test]), words = `${group.name}: all data`;
    svg.append(draw("line", { class: "bound", x1: frame.left, x2: frame.right, y1: height, y2: height }));
    const wide = widthOf(words), lefts = [frame.left + 6, frame.right - wide - 4, (frame.left + frame.right - wide) / 2];
    const free = lefts.flatMap((left) => [height - 17, height + 4].map((top) => box(left, top, wide, 14)));
    const label = free.find((place) => place.y >= 0 && !taken.some((other) => overlap(place, other))) ?? free[1];
    taken.push(label);
    svg.append(draw("text", { x: label.x, y: label.y + 11 }, words));
  }
  const named = [...points].sort((a, b) => b.best - a.best || a.y - b.y).flatMap((point) => {
    const place = freePlace(point, widthOf(point.label), taken, frame);
    if (place) taken.push(place);
    return place ? [{ point, place }] : [];
  });
  for (const { point, place } of named) { // from a name that is not beside its point a line leads to it
    const end = { x: Math.min(place.x + place.width, Math.max(place.x, point.x)), y: place.y > point.y ? place.y + 1 : place.y + 13 };
    const far = Math.hypot(end.x - point.x, Math.max(0, place.y - point.y, point.y - place.y - 14)) > 16;
    if (far) svg.append(draw("line", { class: "lead", x1: point.x, y1: point.y, x2: end.x, y2: end.y }));
  }
  for (const point of [...points].sort((a, b) => a.best - b.best)) {
    svg.append(draw("circle", { class: point.best ? "point best" : "point", cx: point.x, cy: point.y, r: point.best ? 5.5 : 4.5 }));
  }
  for (const { point, place } of named) {
    svg.append(draw("text", { class: point.best ? "name strong" : "name", x: place.x, y: place.y + 11 }, point.label));
  }
  const ring = svg.appendChild(draw("circle", { class: "ring", r: 9, hidden: "" }));
  const order = [...points].sort((a, b) => a.x - b.x);
  walk(svg, order.length, nearestTo(order, 26), (at) => {
    const { group, x, y } = order[at], area = svg.getBoundingClientRect();
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
    ring.removeAttribute("hidden");
    const under = order.filter((other) => other.group !== group && Math.hypot(other.x - x, other.y - y) < 5).map((other) => other.group.name);
    show(area.left + x, area.top + y, group.name,
      [[`accuracy, ${test}`, `${spread(group.main[test], group.std[test])} %`], ["kept", bytesText(group.kept)], ["learning", secondsText(group.seconds)],
        ...(under.length ? [["same place", under.join(", ")]] : [])]);
  }, () => ring.setAttribute("hidden", ""));
}

const box = (x, y, width, height) => ({ x, y, width, height });
const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
// A place for a name that covers nothing, as near to its point as there is; null if there is none.
function freePlace(point, width, taken, frame) {
  const beside = [[8, -7], [8, 5], [8, -19], [-8 - width, -7], [-8 - width, 5], [-8 - width, -19], [-width / 2, 8], [-width / 2, -22]];
  const rows = range(2, 16, 1).flatMap((row) => [row, -row]).map((row) => row * 15 - 7);
  const away = rows.flatMap((dy) => [-width / 2, 8, -8 - width, 30, -30 - width, 60, -60 - width, 100, -100 - width].map((dx) => [dx, dy]));
  return [...beside, ...away].map(([dx, dy]) => box(point.x + dx, point.y + dy, width, 14)).find((place) =>
    place.x >= frame.left && place.x + width <= frame.width && place.y >= 0 && place.y + 14 <= frame.bottom && !taken.some((other) => overlap(place, other))) ?? null;
}

function testsChart(figure, groups, test) {
  const known = groups.filter((group) => group.main.global !== null && group.main.local !== null).sort((a, b) => b.main[test] - a.main[test]);
  figure.hidden = !known.length;
  if (figure.hidden) return;
  const longest = Math.max(...known.map((group) => widthOf(group.name))), row = 21;
  const frame = { ...frameOf(figure, known.length * row + 74), top: 32 };
  frame.left = Math.min(frame.width * 0.42, longest + 16);
  const svg = picture(figure, frame, figure.dataset.name);
  const [low, high, step] = percentAxis(known.flatMap((group) => [group.main.global, group.main.local]));
  const x = linear(low, high, frame.left + 8, frame.right - 8);
  for (const value of range(low, high, step)) {
    svg.append(draw("line", { class: "grid", x1: x(value), x2: x(value), y1: frame.top - 6, y2: frame.bottom }));
    svg.append(draw("text", { class: "mid", x: x(value), y: frame.bottom + 17 }, value));
  }
  svg.append(draw("text", { class: "mid", x: (frame.left + frame.right) / 2, y: frame.height - 5 }, "accuracy, %"));
  svg.append(draw("circle", { class: "point best", cx: frame.left + 14, cy: 12, r: 5 }), draw("text", { x: frame.left + 24, y: 16 }, "global"));
  svg.append(draw("circle", { class: "hollow", cx: frame.left + 84, cy: 12, r: 5 }), draw("text", { x: frame.left + 94, y: 16 }, "local"));
  const places = known.map((group, at) => ({ group, x: x(group.main[test]), y: frame.top + 6 + at * row }));
  for (const { group, y } of places) {
    svg.append(draw("text", { class: "end", x: frame.left - 7, y, dy: "0.35em" }, cut(group.name, frame.left - 12)));
    svg.append(draw("line", { class: "link", x1: x(group.main.local), x2: x(group.main.global), y1: y, y2: y }));
    svg.append(draw("circle", { class: "hollow", cx: x(group.main.local), cy: y, r: 5 }), draw("circle", { class: "point best", cx: x(group.main.global), cy: y, r: 5 }));
  }
  walk(svg, places.length, (_, y) => Math.min(places.length - 1, Math.max(0, Math.round((y - places[0].y) / row))), (at) => {
    const { group } = places[at], area = svg.getBoundingClientRect();
    show(area.left + places[at].x, area.top + places[at].y, group.name,
      ["global", "local"].map((name) => [name, `${spread(group.main[name], group.std[name])} %`]));
  }, () => {});
}
