// Two methods task by task: the matrices of their runs stand as text in the section of settings.
function parseMatrix(pre) {
  return pre.textContent.trim().split("\n").map((line) => line.split(" ").map(Number));
}
function meanMatrix(matrices) {
  return matrices[0].map((row, i) => row.map((_, j) => matrices.reduce((sum, matrix) => sum + matrix[i][j], 0) / matrices.length));
}
// What can be compared: every group, and each of its runs where there are several; by name.
function contestants(article) {
  const found = new Map();
  for (const fold of all("details.group", article)) {
    const name = groupName(article, fold.dataset.g), texts = all("pre[data-test]", fold);
    const runs = [...new Set(texts.map((pre) => pre.dataset.run))];
    const of = (run) => (test) => texts.filter((pre) => pre.dataset.test === test && (run === null || pre.dataset.run === run)).map(parseMatrix);
    found.set(name, { group: name, read: of(null) });
    if (runs.length > 1) for (const run of runs) found.set(`${name}, ${run}`, { group: name, read: of(run) });
  }
  return found;
}
const groupName = (article, at) => one(`table.methods tr[data-g="${at}"]`, article).dataset.name;

// Cells above this share are dark and have light text, as those of classes (page_runs.py).
const DEEP = 62;
function matrixPicture(figure, name, rows, difference) {
  const frame = frameOf(figure, 0), left = 42, top = 6, count = rows.length;
  const side = (Math.min(frame.width, 460) - left - 4) / count, size = side * count;
  const svg = picture(figure, { width: left + size + 4, height: top + size + 40 }, `Accuracy matrix of ${name}`);
  const every = Math.ceil(count / Math.max(3, Math.floor(size / 26)));
  const most = Math.max(1, ...rows.flat().map(Math.abs));
  rows.forEach((row, i) => {
    if (i % every === 0) {
      svg.append(draw("text", { x: left - 7, y: top + (i + 0.5) * side, dy: "0.35em", class: "end" }, i + 1));
      svg.append(draw("text", { x: left + (i + 0.5) * side, y: top + size + 16, class: "mid" }, i + 1));
    }
    row.forEach((value, j) => {
      const [x, y] = [left + j * side, top + i * side], share = difference ? Math.abs(value) / most * 100 : value;
      const words = `task ${j + 1} after learning task ${i + 1}: ${text(value)}${difference ? " points" : " %"}`;
      const kind = `cell${difference ? (value < 0 ? " less" : " more") : ""}`;
      svg.append(draw("rect", { x, y, width: side, height: side, class: kind, style: `--p:${share.toFixed(1)}%`, "data-tip": words }));
      if (side < 27) return;
      const style = `font-size:${Math.min(15, side * 0.36)}px`;
      svg.append(draw("text", { x: x + side / 2, y: y + side / 2, dy: "0.35em", class: `value mid${share > DEEP ? " deep" : ""}`, style }, text(value)));
    });
  });
  svg.append(draw("text", { x: left + size / 2, y: top + size + 35, class: "mid" }, "accuracy on task"));
  svg.append(draw("text", { x: 11, y: top + size / 2, class: "mid", transform: `rotate(-90 11 ${top + size / 2})` }, "after learning task"));
}

function compare(article, state, groups) {
  const section = one(".compare", article), test = state.test;
  const known = contestants(article), names = [...known.keys()];
  const able = (name) => known.has(name) && known.get(name).read(test).length > 0;
  const usual = bestOfMethods(groups).filter((group) => group.main[test] !== null).sort((a, b) => a.bound - b.bound || b.main[test] - a.main[test]).map((group) => group.name);
  const a = able(state.a) ? state.a : usual.find((name) => name !== state.b) ?? names[0];
  const b = able(state.b) ? state.b : usual.find((name) => name !== a) ?? a;
  for (const select of all("select[data-side]", section)) {
    const makers = new Map();
    for (const name of names.filter(able)) makers.set(known.get(name).group, [...(makers.get(known.get(name).group) ?? []), name]);
    select.replaceChildren(...[...makers].map(([group, members]) => (members.length > 1 ?
      html("optgroup", { label: group }, ...members.map((name) => html("option", { value: name }, name === group ? `${name}, mean` : name))) :
      html("option", { value: group }, group))));
    select.value = select.dataset.side === "a" ? a : b;
  }
  if (!able(a) || !able(b)) return;
  const [first, second] = [a, b].map((name) => meanMatrix(known.get(name).read(test)));
  const tasks = Math.min(first.length, second.length);
  const difference = first.slice(0, tasks).map((row, i) => row.map((value, j) => value - second[i][j]));
  section.classList.toggle("long", tasks > 14);
  for (const figure of all("figure[data-side]", section)) {
    const [name, rows] = { a: [a, first], b: [b, second], difference: [`${a} − ${b}`, difference] }[figure.dataset.side];
    one("h4", figure).textContent = name;
    figure.dataset.name = `Accuracy matrix, ${name}, ${test} test, ${article.dataset.title}`;
    matrixPicture(figure, name, rows, figure.dataset.side === "difference");
  }
  pairTable(one("table.pairs", section), a, b, first, second, tasks);
  pairChart(one('figure[data-plot="pair"]', section), a, b, first.at(-1).slice(0, tasks), second.at(-1).slice(0, tasks), test);
  const last = difference.at(-1), mean = last.reduce((sum, value) => sum + value, 0) / tasks;
  const ahead = last.filter((value) => value > 0).length, behind = last.filter((value) => value < 0).length;
  one(".verdict", section).textContent = `After the last task, ${test} test: ${a} is ${text(Math.abs(mean))} points ${mean < 0 ? "below" : "above"} ${b} on average; ` +
    `better on ${ahead} of ${tasks} tasks, worse on ${behind}.`;
}

function pairTable(table, a, b, first, second, tasks) {
  const heads = ["Task", `${a}, last`, `${b}, last`, "Difference", `${a}, just learned`, `${b}, just learned`];
  table.tHead.rows[0].replaceChildren(...heads.map((name, at) => html("th", { scope: "col", class: "num", "aria-sort": at ? null : "ascending" }, html("button", { type: "button" }, name))));
  table.tBodies[0].replaceChildren(...range(0, tasks - 1, 1).map((task) => {
    const [ours, theirs] = [first.at(-1)[task], second.at(-1)[task]], gap = ours - theirs;
    const cells = [ours, theirs, gap, first[task][task], second[task][task]].map((value, at) =>
      html("td", { class: at === 2 ? `num main ${gap < 0 ? "down" : "up"}` : "num", "data-v": value }, `${at === 2 && gap > 0 ? "+" : ""}${text(value)}`));
    return html("tr", {}, html("th", { scope: "row", class: "num", "data-v": task + 1 }, task + 1), ...cells);
  }));
}

function pairChart(figure, a, b, first, second, test) {
  const frame = { ...frameOf(figure, 300), top: 34 }, tasks = first.length;
  const svg = picture(figure, frame, `Accuracy on each task of ${a} and ${b}, ${test} test`);
  const x = linear(0, tasks - 1, frame.left + 16, frame.right - 12), [low, high, step] = percentAxis([...first, ...second]);
  const y = linear(low, high, frame.bottom, frame.top), every = Math.ceil(tasks / Math.max(4, Math.floor(frame.width / 40)));
  axes(svg, frame, {
    xTicks: first.map((_, at) => [x(at), at + 1]).filter((_, at) => at % every === 0),
    yTicks: range(low, high, step).map((value) => [y(value), value]), xLabel: "task", yLabel: "accuracy, %",
  });
  const short = (name) => cut(name, (frame.width - frame.left) / 2 - 30);
  const half = frame.left + (frame.width - frame.left) / 2;
  svg.append(draw("circle", { class: "mark c0", cx: frame.left + 8, cy: 12, r: 5 }), draw("text", { x: frame.left + 18, y: 16 }, short(a)));
  svg.append(draw("path", { class: "mark c1", d: SHAPES[3], transform: `translate(${half} 12)` }), draw("text", { x: half + 10, y: 16 }, short(b)));
  first.forEach((value, at) => svg.append(
    draw("line", { class: "link", x1: x(at), x2: x(at), y1: y(value), y2: y(second[at]) }),
    draw("circle", { class: "mark c0", cx: x(at), cy: y(value), r: tasks > 20 ? 3.5 : 5 }),
    draw("path", { class: "mark c1", d: SHAPES[3], transform: `translate(${x(at)} ${y(second[at])})${tasks > 20 ? " scale(.75)" : ""}` }),
  ));
  walk(svg, tasks, (place) => { const gaps = first.map((_, at) => Math.abs(x(at) - place)); return gaps.indexOf(Math.min(...gaps)); }, (at) => {
    const area = svg.getBoundingClientRect();
    show(area.left + x(at), area.top + y(first[at]), `task ${at + 1}`, [[a, text(first[at])], [b, text(second[at])], ["difference", text(first[at] - second[at])]]);
  }, () => {});
}
