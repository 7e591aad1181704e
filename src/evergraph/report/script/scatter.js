// Accuracy over a cost on a logarithmic axis, and the local beside the global test.
const BYTES = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
function bytesText(value) {
  const [unit, size] = BYTES.find(([, least]) => value >= least) ?? ["B", 1];
  return value ? `${Number((value / size).toPrecision(3))} ${unit}` : "0";
}
const secondsText = (value) => `${Number(value.toPrecision(value < 10 ? 2 : 3)).toLocaleString("en")} s`;

function costChart(figure, groups, test, key, front) {
  const own = groups.filter((group) => !group.bound && group.main[test] !== null);
  const bounds = groups.filter((group) => group.bound && group.main[test] !== null);
  figure.hidden = own.length < 2;
  if (figure.hidden) return;
  const frame = frameOf(figure, 232);
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
  const points = own.map((group) => ({ group, x: x(Math.log10(Math.max(group[key], 10 ** first))), y: y(group.main[test]), best: front.includes(group) }));
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
  for (const point of [...points].sort((a, b) => a.best - b.best)) {
    svg.append(draw("circle", { class: point.best ? "point best" : "point", cx: point.x, cy: point.y, r: point.best ? 5.5 : 4.5 }));
  }
  for (const point of [...points].sort((a, b) => b.best - a.best || a.y - b.y)) {
    const place = freePlace(point, widthOf(point.group.name), taken, frame);
    if (!place) continue;
    taken.push(place);
    svg.append(draw("text", { class: point.best ? "strong" : null, x: place.x, y: place.y + 11 }, point.group.name));
  }
  const ring = svg.appendChild(draw("circle", { class: "ring", r: 9, hidden: "" }));
  const order = [...points].sort((a, b) => a.x - b.x);
  walk(svg, order.length, nearestTo(order, 26), (at) => {
    const { group } = order[at], area = svg.getBoundingClientRect();
    ring.setAttribute("cx", order[at].x);
    ring.setAttribute("cy", order[at].y);
    ring.removeAttribute("hidden");
    show(area.left + order[at].x, area.top + order[at].y, group.name,
      [[`accuracy, ${test}`, `${spread(group.main[test], group.std[test])} %`], ["kept", bytesText(group.kept)], ["learning", secondsText(group.seconds)]]);
  }, () => ring.setAttribute("hidden", ""));
}

const box = (x, y, width, height) => ({ x, y, width, height });
const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
// A place for a name near its point that covers nothing; null if there is none.
function freePlace(point, width, taken, frame) {
  const places = [[8, -7], [8, 5], [8, -19], [-8 - width, -7], [-8 - width, 5], [-8 - width, -19], [-width / 2, 8], [-width / 2, -22]];
  return places.map(([dx, dy]) => box(point.x + dx, point.y + dy, width, 14)).find((place) =>
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
