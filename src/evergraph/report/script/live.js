// While a grid runs, the page loads itself again; the address keeps what is shown.
const progress = one("#progress[data-refresh]");
if (progress) {
  const pause = one("[data-pause]", progress);
  const words = () => new URLSearchParams(location.hash.slice(1));
  const busy = () => words().get("paused") || one("details.filter[open]") || document.activeElement?.tagName === "SELECT";
  const say = () => {
    const paused = Boolean(words().get("paused"));
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Reloading is paused" : "Pause reloading";
  };
  pause.addEventListener("click", () => {
    const now = words();
    if (now.get("paused")) now.delete("paused"); else now.set("paused", "1");
    location.hash = now;
  });
  addEventListener("hashchange", say);
  say();
  setInterval(() => { if (!busy()) location.reload(); }, 1000 * Number(progress.dataset.refresh));
}
