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
    const ring = one(".ring", cloud);
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
      show(area.left + nearest.x / unit, area.top + nearest.y / unit, `class ${name}`, [[cloud.dataset.of]]);
    };
    for (const kind of ["pointermove", "pointerdown"]) cloud.addEventListener(kind, point);
    cloud.addEventListener("pointerleave", leave);
  }
}
