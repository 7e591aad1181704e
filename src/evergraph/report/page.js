"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const tip = document.getElementById("tip");
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  function make(name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  // The box with values: text only, placed beside a point and kept inside the window.
  function show(x, y, title, rows = []) {
    const head = document.createElement(rows.length ? "b" : "span");
    head.textContent = title;
    tip.replaceChildren(head, ...rows.map((row) => {
      const line = document.createElement("div");
      for (const part of row) line.append(Object.assign(document.createElement("span"), { textContent: part }));
      return line;
    }));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 14 + width > innerWidth - 8 ? x - 14 - width : x + 14;
    const top = y + 14 + height > innerHeight - 8 ? y - 14 - height : y + 14;
    tip.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
  }
  const hide = () => { tip.hidden = true; };
  document.addEventListener("pointermove", (event) => {
    const target = event.target.closest?.("[data-tip]");
    if (target) show(event.clientX, event.clientY, target.dataset.tip);
    else if (!event.target.closest?.(".chart, .cloud")) hide();
  });
  for (const kind of ["wheel", "touchmove"]) document.addEventListener(kind, hide, { passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

  // Tables: a heading sorts by its column, first from high to low for numbers; empty cells stay last.
  for (const table of all("table.sortable")) {
    const heads = all("thead th", table);
    heads.forEach((head, at) => head.firstElementChild.addEventListener("click", () => {
      const rows = all("tbody tr", table).map((row) => ({ row, key: row.cells[at].dataset.v ?? "" }));
      const numeric = rows.every(({ key }) => key === "" || !Number.isNaN(Number(key)));
      const before = head.getAttribute("aria-sort");
      const down = before ? before === "ascending" : numeric;
      rows.sort((a, b) => {
        if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
        return (numeric ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true })) * (down ? -1 : 1);
      });
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      table.tBodies[0].append(...rows.map(({ row }) => row));
    }));
  }

  // Charts: the values of all lines at the position nearest to the pointer, or by the arrow keys.
  for (const chart of all(".chart[data-x]")) {
    const places = chart.dataset.x.split(" ").map(Number);
    const names = chart.dataset.at.split("|");
    const guide = chart.querySelector(".guide");
    let at = -1;
    const point = (index, clientY) => {
      at = Math.min(places.length - 1, Math.max(0, index));
      guide.setAttribute("x1", places[at]);
      guide.setAttribute("x2", places[at]);
      guide.removeAttribute("hidden");
      const rows = all(".series:not([hidden])", chart)
        .map((line) => [line.dataset.name, line.dataset.values.split("|")[at]])
        .filter(([, value]) => value)
        .sort((a, b) => parseFloat(b[1]) - parseFloat(a[1]));
      const area = chart.getBoundingClientRect();
      show(area.left + places[at] * area.width / chart.viewBox.baseVal.width, clientY ?? area.top + 20, names[at], rows);
    };
    const leave = () => { guide.setAttribute("hidden", ""); hide(); };
    chart.addEventListener("pointermove", (event) => {
      const area = chart.getBoundingClientRect();
      const x = (event.clientX - area.left) * chart.viewBox.baseVal.width / area.width;
      const gaps = places.map((place) => Math.abs(place - x));
      point(gaps.indexOf(Math.min(...gaps)), event.clientY);
    });
    chart.addEventListener("pointerleave", leave);
    chart.addEventListener("blur", leave);
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.preventDefault(); point(at + step); }
    });
    for (const button of all("button", chart.nextElementSibling)) {
      const line = chart.querySelector(`.series[data-series="${button.dataset.series}"]`);
      const fade = (on) => all(".series", chart).forEach((other) => other.classList.toggle("faded", on && other !== line));
      button.addEventListener("click", () => {
        line.toggleAttribute("hidden");
        button.setAttribute("aria-pressed", String(!line.hasAttribute("hidden")));
      });
      button.addEventListener("pointerenter", () => fade(!line.hasAttribute("hidden")));
      button.addEventListener("pointerleave", () => fade(false));
    }
  }

  // Accuracy matrices, drawn for the chosen run.
  function draw({ name, rows }) {
    const count = rows.length, left = 44, top = 8, side = 380 / count;
    const svg = make("svg", { viewBox: `0 0 ${left + 384} ${top + 384 + 40}`, role: "img", "aria-label": `Accuracy matrix of ${name}` });
    const every = Math.ceil(count / 12);
    rows.forEach((row, i) => {
      if (i % every === 0) {
        svg.append(make("text", { x: left - 8, y: top + (i + 0.5) * side, dy: "0.35em", class: "end" }, i + 1));
        svg.append(make("text", { x: left + (i + 0.5) * side, y: top + 380 + 16, class: "mid" }, i + 1));
      }
      row.forEach((value, j) => {
        const [x, y] = [left + j * side, top + i * side];
        const tipText = `task ${j + 1} after learning task ${i + 1}: ${value.toFixed(1)} %`;
        svg.append(make("rect", { x, y, width: side, height: side, class: "cell", style: `--p:${value}%`, "data-tip": tipText }));
        if (count > 12) return;
        const kind = `value mid${value > 62 ? " deep" : ""}`;
        const style = `font-size:${Math.min(16, side * 0.36)}px`;
        svg.append(make("text", { x: x + side / 2, y: y + side / 2, dy: "0.35em", class: kind, style }, value.toFixed(1)));
      });
    });
    svg.append(make("text", { x: left + 190, y: top + 380 + 36, class: "mid" }, "accuracy on task"));
    svg.append(make("text", { x: 12, y: top + 190, class: "mid", transform: `rotate(-90 12 ${top + 190})` }, "after learning task"));
    return svg;
  }
  for (const panes of all(".panes")) {
    const entries = JSON.parse(panes.querySelector("script").textContent);
    for (const pane of all(".pane", panes)) {
      const select = pane.querySelector("select");
      const redraw = () => pane.querySelector(".matrix").replaceChildren(draw(entries[Number(select.value)]));
      select.addEventListener("change", redraw);
      redraw();
    }
  }

  // Projections: the class of the dot nearest to the pointer; the legend fades and hides classes in all panels.
  for (const section of all(".tsne")) {
    const buttons = all(".legend button", section), dots = all(".dots", section);
    const fade = (kept) => dots.forEach((path) => path.classList.toggle("faded", Boolean(kept) && path.dataset.class !== kept));
    for (const button of buttons) {
      const own = dots.filter((path) => path.dataset.class === button.dataset.class);
      const light = () => fade(button.getAttribute("aria-pressed") === "true" && button.dataset.class);
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") === "true";
        own.forEach((path) => path.toggleAttribute("hidden", shown));
        button.setAttribute("aria-pressed", String(!shown));
        light();
      });
      for (const kind of ["pointerenter", "focus"]) button.addEventListener(kind, light);
      for (const kind of ["pointerleave", "blur"]) button.addEventListener(kind, () => fade());
    }
    for (const cloud of all(".cloud", section)) {
      const ring = cloud.querySelector(".ring");
      let places;
      const read = () => all(".dots", cloud).flatMap((path) =>
        [...path.getAttribute("d").matchAll(/M(\d+) (\d+)/g)].map(([, x, y]) => ({ path, x: Number(x), y: Number(y) })));
      const leave = () => { ring.setAttribute("hidden", ""); hide(); };
      const point = (event) => {
        places ??= read();
        const area = cloud.getBoundingClientRect(), unit = cloud.viewBox.baseVal.width / area.width;
        const [x, y] = [(event.clientX - area.left) * unit, (event.clientY - area.top) * unit];
        let nearest, least = (18 * unit) ** 2;
        for (const place of places) {
          const gap = (place.x - x) ** 2 + (place.y - y) ** 2;
          if (gap < least && !place.path.hasAttribute("hidden")) [nearest, least] = [place, gap];
        }
        if (!nearest) { leave(); return; }
        ring.setAttribute("cx", nearest.x);
        ring.setAttribute("cy", nearest.y);
        ring.removeAttribute("hidden");
        const name = buttons.find((button) => button.dataset.class === nearest.path.dataset.class).textContent;
        show(area.left + nearest.x / unit, area.top + nearest.y / unit, `class ${name}`, [[cloud.dataset.name]]);
      };
      for (const kind of ["pointermove", "pointerdown"]) cloud.addEventListener(kind, point);
      cloud.addEventListener("pointerleave", leave);
    }
  }
})();
