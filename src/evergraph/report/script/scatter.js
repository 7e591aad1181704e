// Accuracy over a cost on a logarithmic axis, and the local beside the global test.
const BYTES = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
function bytesText(value) {
  const [unit, size] = BYTES.find(([, least]) => value >= least) ?? ["B", 1];
  return value ? `${Number((value / size).toPrecision(3))} ${unit}` : "0";
}
const secondsText = (value) => (value > 0 && value < 0.01 ? "<0.01 s" : `${(value < 9.95 ? Number(value.toPrecision(2)) : Math.round(value)).toLocaleString("en")} s`);

// Where there are too many points for their names: those of the line, and the best one of each method that is not on it.
const MOST_NAMES = { wide: 22, phone: 12 }, PHONE = 450;
function namedOf(points, line) {
  const seen = new Set(line.map((point) => point.group.method));
  const others = [...points].sort((a, b) => a.y - b.y).filter(({ group }) => !seen.has(group.method) && seen.add(group.method));
  return [...line, ...others];
}

// Draws the chart; says whether some of its points have no name there.
function costChart(figure, groups, test, key, front) {
  const own = groups.filter((group) => !group.bound && group.main[test] !== null);
  const bounds = groups.filter((group) => group.bound && group.main[test] !== null);
  figure.hidden = own.length < 2;
  if (figure.hidden) return false;
  const phone = one(".canvas", figure).clientWidth < PHONE, crowded = own.length > (phone ? MOST_NAMES.phone : MOST_NAMES.wide);
  const frame = frameOf(figure, phone && own.length > 6 ? (crowded ? 400 : 340) : 270);
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
    ...sizeOf(linesOfName(group.name, (frame.right - frame.left) / 2, frame.width - frame.left)) }));
  const rising = [];
  for (const point of [...points].sort((a, b) => a.x - b.x || a.y - b.y)) if (!rising.length || point.y < rising.at(-1).y) rising.push(point);
  svg.append(draw("path", { class: "stair", d: `M${rising.map((point, at) => (at ? `H${point.x}V${point.y}` : `${point.x} ${point.y}`)).join("")}H${frame.right}` }));
  const strokes = [...rising, { x: frame.right, y: rising.at(-1).y }].flatMap((end, at) => {
    const start = rising[at - 1];
    return at ? [[start, { x: end.x, y: start.y }], [{ x: end.x, y: start.y }, end]] : [];
  });
  const taken = points.map((point) => box(point.x - 7, point.y - 7, 14, 14));
  for (const group of crowded ? [...bounds].sort((a, b) => b.main[test] - a.main[test]).slice(0, 1) : bounds) {
    const height = y(group.main[test]), words = cut(`${group.name}: all data`, frame.right - frame.left - 10);
    svg.append(draw("line", { class: "bound", x1: frame.left, x2: frame.right, y1: height, y2: height }));
    strokes.push([{ x: frame.left, y: height }, { x: frame.right, y: height }]);
    const wide = widthOf(words), lefts = [frame.left + 6, ...range(0, Math.max(0, frame.right - frame.left - wide - 10), 20).map((step) => frame.right - wide - 4 - step)];
    const free = lefts.flatMap((left) => [height - 17, height + 4].map((top) => ({ ...box(left, top, wide, LINE), name: true })));
    const label = free.find((place) => place.y >= 0 && !taken.some((other) => overlap(place, other))) ?? free[1];
    taken.push(label);
    svg.append(draw("text", { x: label.x, y: label.y + 11 }, words));
  }
  const told = crowded ? namedOf(points, rising) : points;
  const named = placeNames([...told].sort((a, b) => rising.includes(b) - rising.includes(a) || b.best - a.best || a.y - b.y), points, taken, strokes, frame);
  for (const { lead } of named.filter((one) => one.lead)) {
    svg.append(draw("line", { class: "lead", x1: lead[0].x, y1: lead[0].y, x2: lead[1].x, y2: lead[1].y }));
  }
  for (const point of [...points].sort((a, b) => a.best - b.best)) {
    svg.append(draw("circle", { class: point.best ? "point best" : "point", cx: point.x, cy: point.y, r: point.best ? 5.5 : 4.5 }));
  }
  for (const { point, place } of named) {
    svg.append(nameText(point.best ? "name strong" : "name", point.lines, place.x, place.y));
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
  return told.length < points.length;
}

function testsChart(figure, groups, test) {
  const known = groups.filter((group) => group.main.global !== null && group.main.local !== null).sort((a, b) => b.main[test] - a.main[test]);
  figure.hidden = !known.length;
  if (figure.hidden) return;
  const room = Math.max(60, one(".canvas", figure).clientWidth * 0.42 - 16), sizes = known.map((group) => sizeOf(linesOfName(group.name, room, room)));
  const tops = [0];
  for (const { height } of sizes) tops.push(tops.at(-1) + height + 7);
  const frame = { ...frameOf(figure, tops.at(-1) + 74), top: 32, left: Math.max(...sizes.map(({ width }) => width)) + 16 };
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
  const places = known.map((group, at) => ({ group, x: x(group.main[test]), y: frame.top - 4 + (tops[at] + tops[at + 1]) / 2 }));
  places.forEach(({ group, y }, at) => {
    svg.append(nameText("end", sizes[at].lines, frame.left - 7, y - sizes[at].height / 2));
    svg.append(draw("line", { class: "link", x1: x(group.main.local), x2: x(group.main.global), y1: y, y2: y }));
    svg.append(draw("circle", { class: "hollow", cx: x(group.main.local), cy: y, r: 5 }), draw("circle", { class: "point best", cx: x(group.main.global), cy: y, r: 5 }));
  });
  const nearest = (_, y) => places.reduce((best, place, at) => (Math.abs(place.y - y) < Math.abs(places[best].y - y) ? at : best), 0);
  walk(svg, places.length, nearest, (at) => {
    const { group } = places[at], area = svg.getBoundingClientRect();
    show(area.left + places[at].x, area.top + places[at].y, group.name,
      ["global", "local"].map((name) => [name, `${spread(group.main[name], group.std[name])} %`]));
  }, () => {});
}
