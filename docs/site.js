// What the theme leaves out: a name of the search dialog; tables, pictures and code that can be scrolled by keyboard, and
// that say so.
document$.subscribe(() => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap, .frame, .md-typeset pre > code")) {
    const hint = document.createElement("span");
    hint.className = "scroll-hint";
    hint.textContent = "scroll sideways →";
    hint.setAttribute("aria-hidden", "true");
    hint.hidden = true;
    const isCode = frame.matches("code");
    if (!isCode) {
      frame.before(hint);
    }
    const look = () => {
      const hidden = frame.scrollWidth - frame.clientWidth;
      hint.hidden = hidden <= 1;
      frame.classList.toggle("cut", hidden > 1 && frame.scrollLeft < hidden - 1);
      if (hidden > 0) {
        frame.tabIndex = 0;
      } else {
        frame.removeAttribute("tabindex");
      }
    };
    frame.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(frame);
    look();
  }
});
