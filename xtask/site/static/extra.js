// Blocks that are wider than the page say that they scroll, and a small picture opens alone.
document.addEventListener("DOMContentLoaded", () => {
  const article = document.querySelector(".bd-article");
  if (!article) return;
  const blocks = article.querySelectorAll("pre, table, div.math");
  const observer = new ResizeObserver((entries) => entries.forEach((entry) => judge(entry.target)));
  const hints = new Map();
  function judge(block) {
    const inner = block.matches("div.math") ? block.querySelector("mjx-container") || block : block;
    const hidden = Math.max(...[block, inner].map((part) => part.scrollWidth - part.clientWidth - part.scrollLeft));
    hints.get(block).hidden = hidden < 8;
  }
  blocks.forEach((block) => {
    const hint = document.createElement("div");
    hint.className = "scroll-hint";
    hint.textContent = "scrolls sideways →";
    hint.hidden = true;
    const around = block.closest("div.highlight, .pst-scrollable-table-container, div.math") || block;
    around.after(hint);
    hints.set(block, hint);
    block.addEventListener("scroll", () => judge(block), { passive: true, capture: true });
    observer.observe(block);
  });
  window.addEventListener("load", () => setTimeout(() => blocks.forEach(judge), 500)); // formulas are drawn by then
  article.querySelectorAll("img").forEach((img) => {
    if (img.closest("a")) return;
    const link = document.createElement("a");
    link.href = img.src;
    link.title = "the picture alone";
    img.replaceWith(link);
    link.append(img);
  });
  // paper is light
  const root = document.documentElement;
  let shown;
  window.addEventListener("beforeprint", () => { shown = root.dataset.theme; root.dataset.theme = "light"; });
  window.addEventListener("afterprint", () => { root.dataset.theme = shown; });
});
