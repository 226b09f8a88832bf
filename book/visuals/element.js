// What all elements of the book share. They are drawn in a shadow root: the page's
// table styles and MathJax stay out, and what stands inside the element (a plain
// table) is shown only where this script does not run. Nothing is read from the
// element's children, so it may run before they are parsed.

import { make } from "./attention-marks.js";
import base from "./element.css";

/** An element that reads its `data`, speaks the page's language and draws itself by build(). */
export class CourseElement extends HTMLElement {
  static words = {};
  static style = "";

  connectedCallback() {
    if (this.shadowRoot) return;
    const { words, style } = this.constructor;
    this.data = JSON.parse(this.getAttribute("data"));
    const language = document.documentElement.lang.split("-")[0];
    this.words = words[language] ?? words.en;
    this.dataset.lmSuppressShortcuts = "true"; // JupyterLab would take the arrow keys
    const root = this.attachShadow({ mode: "open" });
    root.append(make("style", {}, base + style), this.build());
    this.reset();
    this.watchScrolling();
  }

  /** A place for a table, or a picture, that may be too wide: see watchScrolling. */
  scroller(content, name) {
    const scroller = make("div", { className: "scroller", role: "group", "aria-label": name }, content);
    this.scrollers = [...(this.scrollers ?? []), scroller];
    return scroller;
  }

  /** A table too wide for its place scrolls, and can then be reached with the keyboard. */
  watchScrolling() {
    const look = (scroller) => {
      const hidden = scroller.scrollWidth - scroller.clientWidth;
      scroller.classList.toggle("more", hidden - scroller.scrollLeft > 1);
      if (hidden > 0) scroller.tabIndex = 0;
      else scroller.removeAttribute("tabindex");
    };
    const scrollers = this.scrollers ?? [];
    const observer = new ResizeObserver(() => scrollers.forEach(look));
    for (const scroller of scrollers) {
      scroller.onscroll = () => look(scroller);
      observer.observe(scroller);
      observer.observe(scroller.firstChild);
    }
  }
}

/** A paragraph that is read out when it changes. */
export function spoken() {
  return make("p", { className: "reading", "aria-live": "polite", "aria-atomic": "true" });
}

/** A slider with its word before it and its number after it. */
export function slider(word, { min, max, step = 1 }, oninput) {
  const input = make("input", { type: "range", min, max, step, oninput });
  const shown = make("output");
  const label = make("label", {}, word, input, shown);
  const say = (text) => {
    shown.value = text;
    input.setAttribute("aria-valuetext", text);
  };
  return Object.assign(label, { input, say });
}

/** The words of a sentence with {names} in it, each name's value set in bold. */
export function sentence(template, values) {
  return template.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? make("b", {}, String(values[part])) : part));
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function define(name, element) {
  if (!customElements.get(name)) customElements.define(name, element);
}
