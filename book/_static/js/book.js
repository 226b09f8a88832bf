// Small repairs of the pages in the reader's browser.

// Opened from a folder, a page may not read other pages: show results without excerpts.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// A formula too wide for a phone scrolls in its own place: let the keyboard reach it.
const markWideFormulas = () => {
  for (const box of document.querySelectorAll("div.math")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "Formula");
    }
  }
};

window.addEventListener("load", () => {
  window.MathJax?.startup?.promise?.then(markWideFormulas);
});
