"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 1000, HEIGHT = 700, EDGE = 24, COLOURS = 40, ROWS = 2000;
  const by = (id) => document.getElementById(id);
  const tip = by("tip"), graph = by("graph"), ring = by("ring");
  const count = (number, what, many = `${what}s`) => `${number.toLocaleString("en")} ${number === 1 ? what : many}`;
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  let answer = null, dots = [], at = -1, address = null;

  // Names of nodes and classes are text, wherever they are shown.
  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  // Giving a graph

  for (const name of ["edges", "nodes"]) {
    by(`${name}-file`).addEventListener("change", async (event) => {
      const [file] = event.target.files;
      if (file) by(name).value = await file.text();
    });
  }
  by("example").addEventListener("click", () => {
    by("nodes").value = document.body.dataset.exampleNodes;
    by("edges").value = document.body.dataset.exampleEdges;
  });
  by("ask").addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = document.querySelector("#ask .primary");
    button.disabled = true;
    try {
      await ask();
    } catch (error) {
      refuse(error.message);
    } finally {
      button.disabled = false;
    }
  });

  async function ask() {
    const question = { nodes: by("nodes").value, edges: by("edges").value, drawing: true, merge_duplicates: true };
    let response;
    try {
      response = await fetch("/predict", {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question),
      });
    } catch {
      throw new Error("the server does not answer; start evergraph serve again");
    }
    const content = await response.json();
    if (!response.ok) throw new Error(content.error);
    show(content);
  }

  function refuse(sentence) {
    by("result").hidden = true;
    by("error").textContent = sentence;
    by("error").hidden = false;
  }

  // Showing the answer

  function show(content) {
    answer = content;
    hide();
    by("error").hidden = true;
    by("result").hidden = false;
    const found = new Set(answer.predictions.map(({ label }) => label));
    by("told").textContent = `${count(answer.predictions.length, "node")} in ${count(found.size, "class", "classes")}`;
    const remarks = [...answer.remarks, ...answer.drawing.remarks];
    by("remarks").replaceChildren(...remarks.map((remark) => element("p", remark, "remark")));
    draw();
    legend(found);
    list();
    offer();
    by("told").focus({ preventScroll: true });
    by("result").scrollIntoView();
  }

  function colour(label) {
    const index = answer.classes.indexOf(label);
    return index < 0 ? "none" : `hue k${index % COLOURS}`;
  }

  function draw() {
    const { nodes, x, y, edges } = answer.drawing;
    const places = nodes.map((_, index) => [
      EDGE + x[index] * (WIDTH - 2 * EDGE), EDGE + y[index] * (HEIGHT - 2 * EDGE),
    ]);
    by("links").setAttribute("d", edges.map(([one, other]) => `M${places[one].join()}L${places[other].join()}`).join(""));
    const narrow = Math.min(2.2, Math.max(1, 700 / graph.getBoundingClientRect().width));
    const radius = narrow * Math.max(3, Math.min(9, 110 / Math.sqrt(nodes.length)));
    ring.setAttribute("r", radius + 3);
    dots = nodes.map((row, index) => {
      const dot = document.createElementNS(SVG, "circle");
      const [cx, cy] = places[index];
      for (const [key, value] of Object.entries({ cx, cy, r: radius })) dot.setAttribute(key, value);
      dot.setAttribute("class", colour(answer.predictions[row].label));
      dot.dataset.index = index;
      return dot;
    });
    by("dots").replaceChildren(...dots);
    graph.setAttribute("aria-label", `the graph of ${count(nodes.length, "node")}, coloured by class; the arrow keys go from node to node`);
    by("caption").textContent = `${count(nodes.length, "node")} and ${count(edges.length, "edge")}. Values show under the pointer, or by the arrow keys.`;
    at = -1;
  }

  function legend(found) {
    const labels = [...answer.classes.filter((label) => found.has(label)), ...[...found].filter((label) => !answer.classes.includes(label))];
    by("legend").replaceChildren(...labels.map((label) => {
      const key = element("button", undefined, colour(label));
      const nodes = answer.predictions.filter((prediction) => prediction.label === label).length;
      key.type = "button";
      key.append(element("i"), element("span", `${label} (${nodes.toLocaleString("en")})`));
      const fade = (faded) => dots.forEach((dot, index) => {
        dot.classList.toggle("faded", faded && answer.predictions[answer.drawing.nodes[index]].label !== label);
      });
      for (const kind of ["pointerenter", "focus"]) key.addEventListener(kind, () => fade(true));
      for (const kind of ["pointerleave", "blur"]) key.addEventListener(kind, () => fade(false));
      return key;
    }));
  }

  function list() {
    const rows = answer.predictions.slice(0, ROWS).map(({ id, label, probability, margin }) => {
      const row = element("tr");
      row.append(element("td", id), element("td", label), element("td", percent(probability), "num"), element("td", percent(margin), "num"));
      return row;
    });
    by("rows").replaceChildren(...rows);
    by("more").hidden = answer.predictions.length <= ROWS;
    by("more").textContent = `The first ${ROWS.toLocaleString("en")} rows; the file has all ${answer.predictions.length.toLocaleString("en")}.`;
  }

  function offer() {
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
    const fields = ["id", "label", "probability", "margin"];
    const lines = [fields.join(), ...answer.predictions.map((row) => fields.map((field) => quoted(row[field])).join())];
    if (address) URL.revokeObjectURL(address);
    address = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
    by("csv").href = address;
  }

  // Values of a node: under the pointer, or by the arrow keys.

  function point(index) {
    at = index;
    const { id, label, probability, margin } = answer.predictions[answer.drawing.nodes[index]];
    const rows = [["class", label], ["probability", percent(probability)], ["margin", percent(margin)]];
    tip.replaceChildren(element("b", id), ...rows.map((row) => {
      const line = element("div");
      line.append(...row.map((part) => element("span", part)));
      return line;
    }));
    tip.hidden = false;
    for (const key of ["cx", "cy"]) ring.setAttribute(key, dots[index].getAttribute(key));
    ring.removeAttribute("hidden");
    const box = dots[index].getBoundingClientRect(), size = tip.getBoundingClientRect();
    const left = box.right + 10 + size.width > innerWidth - 8 ? box.left - 10 - size.width : box.right + 10;
    const top = Math.min(box.bottom + 6, innerHeight - size.height - 8);
    tip.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
  }
  function hide() {
    tip.hidden = true;
    ring.setAttribute("hidden", "");
  }
  graph.addEventListener("pointermove", (event) => {
    const index = event.target.dataset?.index;
    if (index === undefined) hide();
    else point(Number(index));
  });
  graph.addEventListener("pointerleave", hide);
  graph.addEventListener("blur", hide);
  graph.addEventListener("keydown", (event) => {
    const last = dots.length - 1;
    const next = {
      ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last,
    }[event.key];
    if (event.key === "Escape") hide();
    if (next === undefined || last < 0) return;
    event.preventDefault();
    point(Math.max(0, Math.min(last, next)));
  });
  document.addEventListener("wheel", hide, { passive: true });
})();
