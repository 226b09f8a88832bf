// <shape-tracer data='{"caption", "seq", "steps": [{"name", "what", "shape", "cells"}]}'>
//
// Python ran the module and recorded each step; here the reader goes through them.

import { make, shaded } from "./attention-marks.js";
import { CourseElement, define, sentence, slider, spoken } from "./element.js";
import { WORDS } from "./shape-words.js";
import style from "./shape-tracer.css";

const MIXED = ["attend", "merge", "joined"];

class ShapeTracer extends CourseElement {
  static words = WORDS;
  static style = style;

  // ---- what stands on the page -------------------------------------------------

  build() {
    const { words, data } = this;
    const numbered = data.steps.find(({ what }) => what === "project") ?? data.steps.find(({ cells }) => cells);
    this.all = numbered.cells.flat(2).length;
    this.width = numbered.width;
    this.heads = data.steps.find(({ what }) => what === "heads").shape[1];
    this.links = data.steps.map(({ name, shape }, at) =>
      make("button", { type: "button", onclick: () => this.go(at) },
        make("code", {}, name), make("small", {}, written(shape))));
    this.ribbon = make("ol", { className: "ribbon", "aria-label": words.steps, onkeydown: (event) => this.keyed(event) },
      ...this.links.map((link) => make("li", {}, link)));
    this.reading = spoken();
    this.blocks = make("div", { className: "blocks", onclick: (event) => this.pick(event.target.closest("td")) });
    this.path = make("p", { className: "path", "aria-live": "polite" });
    return make("figure", {},
      this.ribbon,
      this.buildControls(),
      this.reading,
      this.scroller(this.blocks, words.cells),
      this.path,
      make("div", { className: "key" }, make("span", { className: "hint" }, words.hint)),
      make("figcaption", {}, data.caption));
  }

  buildControls() {
    const { words } = this;
    const button = (word, step) =>
      make("button", { type: "button", onclick: () => this.go(this.at + step) }, word);
    [this.back, this.on] = [button(words.back, -1), button(words.on, 1)];
    this.number = slider(words.number, { min: 1, max: this.all }, () => this.update());
    return make("form", { className: "controls", onsubmit: (event) => event.preventDefault() },
      this.back, this.on, this.number);
  }

  // ---- what changes ------------------------------------------------------------

  reset() {
    this.number.input.value = Math.min(this.width + this.width / this.heads + 1, this.all);
    this.go(0);
  }

  go(at) {
    this.at = Math.min(Math.max(at, 0), this.data.steps.length - 1);
    this.update();
  }

  keyed(event) {
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: Infinity }[event.key];
    if (to === undefined || event.altKey || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    this.go(to);
    this.links[this.at].focus();
  }

  pick(cell) {
    if (!cell?.number) return;
    this.number.input.value = cell.number;
    this.update();
  }

  update() {
    const { words, data } = this;
    const step = data.steps[this.at];
    this.chosen = Number(this.number.input.value);
    this.number.say(String(this.chosen));
    const last = data.steps.length - 1;
    // aria-disabled and not disabled: the keyboard's place must not be lost at an end
    this.back.setAttribute("aria-disabled", this.at === 0);
    this.on.setAttribute("aria-disabled", this.at === last);
    this.links.forEach((link, at) => {
      link.tabIndex = at === this.at ? 0 : -1;
      if (at === this.at) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
    const facts = { at: this.at + 1, all: last + 1, name: step.name, shape: written(step.shape) };
    this.reading.replaceChildren(...sentence(words.step, facts), " ", words[step.what]);
    this.drawBlocks(step);
    this.drawPath(step);
  }

  // ---- the cells ---------------------------------------------------------------

  /** The first sentence as blocks of rows; null where a cell has no number. */
  cells({ cells, shape }) {
    if (cells) return Array.isArray(cells[0][0]) ? cells : [cells];
    const [rows, columns] = shape.slice(-2);
    const blocks = shape.length > 3 ? shape[1] : 1;
    return Array.from({ length: blocks }, () =>
      Array.from({ length: rows }, () => Array(columns).fill(null)));
  }

  /** Which axes the blocks and the rows of a step are. */
  axes({ what, shape }) {
    if (shape.length < 4) return [null, "token"];
    if (["heads", "scores", "attend"].includes(what)) return ["head", "token"];
    return shape[1] === this.data.seq && shape[2] === this.heads ? ["token", "head"] : ["index", "index"];
  }

  tokenOf(number) {
    return Math.floor((number - 1) / this.width);
  }

  drawBlocks(step) {
    const { words } = this;
    const [outer, inner] = this.axes(step);
    const named = (axis, i) => (axis === "index" ? `[${i}]` : words[axis].replace("{i}", i));
    const checked = inner === "token";
    this.misplaced = 0;
    const cell = (number, row, column) => {
      if (number === null) {
        const text = step.what === "scores" ? `${row}·${column}` : "";
        const blank = make("td", {}, text);
        return step.what === "input" ? this.shade(blank, row) : blank;
      }
      const made = make("td", {}, MIXED.includes(step.what) ? `${number}′` : String(number));
      made.number = number;
      this.shade(made, this.tokenOf(number));
      if (number === this.chosen) made.className += " picked";
      if (checked && this.tokenOf(number) !== row) {
        made.classList.add("misplaced");
        this.misplaced += 1;
      }
      return made;
    };
    this.blocks.replaceChildren(...this.cells(step).map((rows, i) => make("table", {},
      ...(outer ? [make("caption", {}, named(outer, i))] : []),
      make("tbody", {}, ...rows.map((row, j) => make("tr", {},
        make("th", { scope: "row" }, named(inner, j)),
        ...row.map((number, k) => cell(number, j, k))))))));
  }

  shade(cell, token) {
    return shaded(cell, ((token % this.data.seq) + 1) / (this.data.seq + 1));
  }

  /** Where the chosen number stands, and whether any stands in a wrong row. */
  drawPath(step) {
    const { words, chosen: n } = this;
    if (!step.cells) {
      this.path.replaceChildren();
      return;
    }
    const [outer, inner] = this.axes(step);
    const at = this.cells(step).flatMap((rows, a) => rows.flatMap((row, b) =>
      row.flatMap((number, c) => (number === n ? [[a, b, c]] : []))))[0];
    const template = outer === null ? words.atRow
      : words[{ head: "atHead", token: "atToken", index: "atIndex" }[outer]];
    const [a, b, c] = at && outer === null ? [at[1], at[2]] : at ?? [];
    const path = at ? sentence(template, { n, a, b, c }) : sentence(words.away, { n });
    if (inner === "token") {
      const told = this.misplaced
        ? sentence(words.wrong, { count: this.misplaced, all: this.all }) : [words.right];
      path.push(" ", ...told);
    }
    this.path.replaceChildren(...path);
  }
}

function written(shape) {
  return `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
}

define("shape-tracer", ShapeTracer);
