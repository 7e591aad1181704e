// What the theme leaves out: a name of the search dialog, and tables that can be scrolled by keyboard.
document$.subscribe(() => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (wrap.scrollWidth > wrap.clientWidth) {
      wrap.tabIndex = 0;
    }
  }
});
