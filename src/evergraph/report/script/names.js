// Places for the names of points: each covers no point and no other name; from one that is not beside its point a line
// leads to it, which crosses no other name and no other line where there is a way.
const LINE = 14;
const box = (x, y, width, height) => ({ x, y, width, height });
const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

// A name in as many lines as it needs, of about the same length; it breaks between its parts, and a part that is
// wider than all there is at hyphens; what is wider still is cut.
function linesOfName(name, room, most) {
  const parts = (name.match(/.+?(?: · |, |$)/g) ?? [name]).flatMap((part) => (widthOf(part.trimEnd()) > most ? part.match(/.+?(?:[-_]|$)/g) : [part]));
  const broken = (width) => parts.reduce((lines, part) => {
    const longer = `${lines.at(-1) ?? ""}${part}`;
    return lines.length && widthOf(longer.trimEnd()) <= width ? [...lines.slice(0, -1), longer] : [...lines, part];
  }, []);
  const count = broken(room).length, width = range(20, room, 5).find((width) => broken(width).length === count) ?? room;
  return broken(width).map((line) => (widthOf(line.trimEnd()) > most ? cut(line.trimEnd(), most) : line));
}
const sizeOf = (lines) => ({ lines, width: Math.max(...lines.map((line) => widthOf(line.trimEnd()))), height: LINE * lines.length });
const nameText = (kind, lines, x, y, dy = 11) => draw("text", { class: kind, x, y: y + dy }, ...(lines.length === 1 ? lines :
  lines.map((line, at) => draw("tspan", { x, dy: at ? LINE : 0 }, line))));

// The two ends of the line to a point, or null where its name is beside it.
function leadTo(point, place) {
  const x = Math.min(place.x + place.width, Math.max(place.x, point.x)), y = Math.min(place.y + place.height - 1, Math.max(place.y + 1, point.y));
  return Math.hypot(x - point.x, y - point.y) > 14 ? [point, { x, y }] : null;
}
const side = (a, b, c) => Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
const crosses = ([a, b], [c, d]) => side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b);
function passes([a, b], { x, y, width, height }) {
  const corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]].map(([cx, cy]) => ({ x: cx, y: cy }));
  return corners.some((corner, at) => crosses([a, b], [corner, corners[(at + 1) % 4]]));
}
function gapTo(point, [a, b]) {
  const long = (b.x - a.x) ** 2 + (b.y - a.y) ** 2, along = ((point.x - a.x) * (b.x - a.x) + (point.y - a.y) * (b.y - a.y)) / long;
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(a.x + share * (b.x - a.x) - point.x, a.y + share * (b.y - a.y) - point.y);
}

const apart = (point, { x, y, width, height }) => Math.hypot(Math.max(x - point.x, 0, point.x - x - width), Math.max(y - point.y, 0, point.y - y - height));

// Where a name may stand, the cheapest place first: near its point and not near others, off the strokes of the chart, with
// a line that runs over few points. Blocked are points and the names of bounds.
const PLACES = 200;
function placesOf(point, points, blocked, strokes, frame) {
  const { width, height } = point, others = points.filter((other) => Math.hypot(other.x - point.x, other.y - point.y) > 6);
  const beside = [[8, -height / 2], [8, 4], [8, -4 - height], [-8 - width, -height / 2], [-8 - width, 4], [-8 - width, -4 - height],
    [-width / 2, 8], [-width / 2, -8 - height]];
  const lefts = [-width / 2, ...range(0, 150, 25).flatMap((step) => [8 + step, -8 - step - width])];
  const away = range(-18, 18, 1).flatMap((row) => lefts.map((left) => [left, row * 13 - height / 2]));
  const cost = (place, lead, at) => {
    const on = strokes.filter((stroke) => passes(stroke, place) || strokeIn(stroke, place)).length, near = others.filter((other) => apart(other, place) < 10).length;
    if (!lead) return Math.min(at, 8) + 6 * on + 6 * near;
    const over = others.filter((other) => gapTo(other, lead) < 6).length;
    return 15 + Math.hypot(lead[1].x - point.x, lead[1].y - point.y) + 6 * on + 30 * over + 60 * near;
  };
  return [...beside, ...away].flatMap(([dx, dy], at) => {
    const place = box(point.x + dx, point.y + dy, width, height), lead = leadTo(point, place);
    const outside = place.x < frame.left || place.x + width > frame.width || place.y < 0 || place.y + height > frame.bottom - 1;
    if (outside || blocked.some((other) => overlap(place, other) || (lead && other.name && passes(lead, other)))) return [];
    return [{ point, place, lead, cost: cost(place, lead, at) }];
  }).sort((a, b) => a.cost - b.cost).slice(0, PLACES);
}
const strokeIn = ([a], { x, y, width, height }) => a.x >= x && a.x <= x + width && a.y >= y && a.y <= y + height;

// What it costs that two names are where they are.
function tangle(a, b) {
  if (overlap(a.place, b.place)) return 5000;
  const through = (a.lead && passes(a.lead, b.place)) || (b.lead && passes(b.lead, a.place));
  return (through ? 600 : 0) + (a.lead && b.lead && crosses(a.lead, b.lead) ? 150 : 0);
}

// The names take turns in choosing the cheapest place beside the others, until none finds a better one; then two that are in
// each other's way choose together.
function settle(ways) {
  const chosen = ways.map(() => null), open = ways.flatMap((some, at) => (some.length ? [at] : []));
  const price = (way, own, enough = Infinity) => {
    let sum = way.cost;
    for (let at = 0; at < chosen.length && sum < enough; at += 1) if (at !== own && chosen[at]) sum += tangle(way, chosen[at]);
    return sum;
  };
  const cheapest = (own, enough) => {
    let best = null, least = enough;
    for (const way of ways[own]) {
      if (way.cost >= least) break;
      const sum = price(way, own, least);
      if (sum < least) [best, least] = [way, sum];
    }
    return [best, least];
  };
  const choose = (own) => {
    const [best] = cheapest(own, chosen[own] ? price(chosen[own], own) : Infinity);
    if (best) chosen[own] = best;
    return Boolean(best);
  };
  const chooseTogether = ([a, b]) => {
    const before = [chosen[a], chosen[b]];
    chosen[b] = null;
    let least = price(before[0], a), found = null;
    chosen[b] = before[1];
    least += price(before[1], b);
    for (const way of ways[a]) {
      chosen[b] = null;
      const own = price(way, a, least);
      if (own >= least) continue;
      chosen[a] = way;
      const [best, rest] = cheapest(b, least - own);
      if (best) [found, least] = [[way, best], own + rest];
    }
    [chosen[a], chosen[b]] = found ?? before;
    return found !== null;
  };
  const knots = () => open.flatMap((a) => open.filter((b) => b !== a && tangle(chosen[a], chosen[b])).map((b) => [a, b]));
  for (let turn = 0; turn < 12; turn += 1) if (!open.map(choose).some(Boolean) && !knots().some(chooseTogether)) break;
  return { chosen, knots: knots().reduce((sum, [a, b]) => sum + tangle(chosen[a], chosen[b]), 0) };
}

// Names at their places; of several orders of choosing the one with the fewest knots counts.
function placeNames(named, points, blocked, strokes, frame) {
  const ways = named.map((point) => placesOf(point, points, blocked, strokes, frame));
  let best = null;
  for (const start of [0, 1, 2]) {
    const turned = start ? [...ways.slice(start * 5 % ways.length), ...ways.slice(0, start * 5 % ways.length)].reverse() : ways;
    const found = settle(turned);
    if (!best || found.knots < best.knots) best = found;
    if (!best.knots) break;
  }
  return best.chosen.filter((way, own) => way && !best.chosen.some((other, at) => at < own && other && overlap(way.place, other.place)));
}
