// Line charts, drawn from the table below them. Lines that coincide take turns, so that each colour is seen.
const COLOURS = 8;
const put = new WeakMap(); // the lines of a chart that a person has put away

function linesOf(holder, shown) {
  const rows = [...one("table", holder).tBodies[0].rows].filter((row) => shown(row));
  const methods = [...new Set([...one("table", holder).tBodies[0].rows].sort((a, b) => a.dataset.g - b.dataset.g).map((row) => row.dataset.method))];
  const seen = new Map();
  return rows.map((row) => {
    const index = methods.indexOf(row.dataset.method), again = seen.get(row.dataset.method) ?? 0;
    seen.set(row.dataset.method, again + 1);
    const points = [...row.cells].slice(1).map((cell) => (cell.dataset.v === undefined ? null :
      { mean: Number(cell.dataset.v), std: cell.dataset.s === undefined ? null : Number(cell.dataset.s) }));
    return { key: row.dataset.g, name: row.cells[0].dataset.v, points, colour: (index + again) % COLOURS,
      dash: DASHES[(Math.floor(index / COLOURS) + again) % DASHES.length], shape: SHAPES[(index + again) % SHAPES.length] };
  });
}

// Lines whose heights differ by less than three pixels at most places, as lists of at least two.
function coinciding(lines) {
  const same = (a, b) => {
    const gaps = a.heights.map((height, at) => (height === null || b.heights[at] === null ? null : Math.abs(height - b.heights[at]))).filter((gap) => gap !== null);
    return gaps.length > 0 && gaps.filter((gap) => gap < 3).length > 0.6 * gaps.length;
  };
  const sets = [];
  for (const line of lines) {
    const found = sets.find((members) => members.some((other) => same(line, other)));
    if (found) found.push(line); else sets.push([line]);
  }
  return sets.filter((members) => members.length > 1);
}

function lineChart(holder, shown) {
  const figure = one("figure", holder), legend = one(".legend", holder);
  const lines = linesOf(holder, shown).sort((a, b) => (b.points.findLast(Boolean)?.mean ?? 0) - (a.points.findLast(Boolean)?.mean ?? 0));
  figure.hidden = !lines.length;
  legend.replaceChildren();
  if (!lines.length) return;
  if (!put.has(figure)) put.set(figure, new Set());
  const away = put.get(figure);
  const names = [...one("table", holder).tHead.rows[0].cells].slice(1).map((head) => head.textContent.trim());
  const positions = names.map(Number);
  const frame = frameOf(figure, Math.max(280, Math.min(420, one(".canvas", figure).clientWidth * 0.5)));
  const svg = picture(figure, frame, figure.dataset.name);
  const ends = lines.flatMap((line) => line.points.filter(Boolean).flatMap(({ mean, std }) => [mean - (std ?? 0), mean + (std ?? 0)]));
  const [low, high, step] = percentAxis(ends);
  const x = linear(positions[0], positions.at(-1), frame.left + 10, frame.right - 10), y = linear(low, high, frame.bottom, frame.top);
  const places = positions.map(x), every = Math.ceil(positions.length / Math.max(4, Math.floor(frame.width / 55)));
  axes(svg, frame, {
    xTicks: places.map((place, at) => [place, names[at]]).filter((_, at) => at % every === 0),
    yTicks: range(low, high, step).map((value) => [y(value), value]), xLabel: figure.dataset.x, yLabel: figure.dataset.y,
  });
  const guide = svg.appendChild(draw("line", { class: "guide", y1: frame.top, y2: frame.bottom, hidden: "" }));
  const inside = (value) => y(Math.min(high, Math.max(low, value)));
  for (const line of lines) {
    line.heights = line.points.map((point) => point && y(point.mean));
    const path = `M${line.points.flatMap((point, at) => (point ? [`${places[at].toFixed(1)} ${line.heights[at].toFixed(1)}`] : [])).join("L")}`;
    const group = draw("g", { class: `series c${line.colour}`, "data-name": line.name });
    const known = line.points.map((point, at) => ({ point, at })).filter(({ point }) => point);
    if (known.some(({ point }) => point.std !== null)) {
      const upper = known.map(({ point, at }) => `${places[at].toFixed(1)} ${inside(point.mean + (point.std ?? 0)).toFixed(1)}`);
      const lower = known.map(({ point, at }) => `${places[at].toFixed(1)} ${inside(point.mean - (point.std ?? 0)).toFixed(1)}`).reverse();
      group.append(draw("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }));
    }
    group.append(draw("path", { class: "line", d: path, "stroke-dasharray": line.dash }));
    const sparse = Math.max(1, Math.ceil(known.length / 12));
    known.forEach(({ at }, place) => {
      if (place % sparse === 0) group.append(draw("path", { class: "mark", d: line.shape, transform: `translate(${places[at].toFixed(1)} ${line.heights[at].toFixed(1)})` }));
    });
    group.toggleAttribute("hidden", away.has(line.key));
    line.group = svg.appendChild(group);
  }
  const together = takeTurns(lines.filter((line) => !away.has(line.key)));
  for (const line of lines) legend.append(legendKey(line, lines, away, () => lineChart(holder, shown)));
  if (together.length) legend.append(html("p", {}, `Lines that coincide take turns along the way: ${together.join("; ")}.`));
  walk(svg, places.length, (at) => { const gaps = places.map((place) => Math.abs(place - at)); return gaps.indexOf(Math.min(...gaps)); }, (at, clientY) => {
    for (const name of ["x1", "x2"]) guide.setAttribute(name, places[at]);
    guide.removeAttribute("hidden");
    const rows = lines.filter((line) => !away.has(line.key) && line.points[at]).sort((a, b) => b.points[at].mean - a.points[at].mean)
      .map((line) => [line.name, spread(line.points[at].mean, line.points[at].std)]);
    const area = svg.getBoundingClientRect();
    show(area.left + places[at], clientY ?? area.top + 20, `${figure.dataset.at} ${names[at]}`, rows);
  }, () => guide.setAttribute("hidden", ""));
}

// Each of n coinciding lines is drawn for one stretch in n, and its marks at other places.
function takeTurns(lines) {
  const sets = coinciding(lines);
  for (const members of sets) members.forEach((line, turn) => {
    const path = one(".line", line.group), piece = 9;
    path.setAttribute("stroke-dasharray", `${piece} ${piece * (members.length - 1)}`);
    path.setAttribute("stroke-dashoffset", -piece * turn);
    all(".mark", line.group).forEach((mark, at) => mark.toggleAttribute("hidden", at % members.length !== turn % members.length));
  });
  return sets.map((members) => members.map((line) => line.name).join(", "));
}

// A button that shows and puts away a line; to point at it raises the line above all others.
function legendKey(line, lines, away, again) {
  const key = draw("svg", { class: `key c${line.colour}`, viewBox: "0 0 26 14", "aria-hidden": "true" },
    draw("path", { class: "line", d: "M0 7H26", "stroke-dasharray": line.dash }), draw("path", { class: "mark", d: line.shape, transform: "translate(13 7)" }));
  const last = line.points.findLast(Boolean);
  const button = html("button", { type: "button", "aria-pressed": String(!away.has(line.key)) }, key, line.name, html("span", { class: "last" }, last ? text(last.mean) : ""));
  button.addEventListener("click", () => {
    if (!away.delete(line.key)) away.add(line.key);
    const index = [...button.parentNode.children].indexOf(button), legend = button.parentNode;
    again();
    legend.children[index].focus();
  });
  const path = one(".line", line.group), before = path.getAttribute("stroke-dasharray");
  const raise = (on) => {
    if (on) line.group.parentNode.append(line.group);
    for (const other of lines) other.group.classList.toggle("faded", on && other !== line);
    line.group.classList.toggle("raised", on);
    if (on && line.dash === null) path.removeAttribute("stroke-dasharray"); else path.setAttribute("stroke-dasharray", (on ? line.dash : before) ?? "none");
  };
  for (const kind of ["pointerenter", "focus"]) button.addEventListener(kind, () => raise(!away.has(line.key)));
  for (const kind of ["pointerleave", "blur"]) button.addEventListener(kind, () => raise(false));
  return button;
}
