// <residual-stream data='{"caption", "stacks": [{"name", "sizes", "added", "cosines"}]}'>
//
// torch ran the stacks; here the reader chooses how deep they are and looks at a layer.

import { format, make } from "./attention-marks.js";
import { CourseElement, define, draw, sentence, slider, spoken } from "./element.js";
import { WORDS } from "./stream-words.js";
import chart from "./chart.css";
import style from "./residual-stream.css";

const WIDE = 440;
const [LEFT, RIGHT] = [8, 8];
const [MIDDLE, HALF] = [82, 56]; // of the stream

class ResidualStream extends CourseElement {
  static words = WORDS;
  static style = chart + style;

  // ---- what stands on the page -------------------------------------------------

  build() {
    const { words, data } = this;
    this.deepest = Math.max(...data.stacks.map(({ added }) => added.length));
    this.panels = data.stacks.map((stack) => {
      const name = words.names[stack.name] ?? stack.name;
      const picture = draw("svg", { role: "img", "aria-label": name });
      picture.onpointermove = picture.onpointerdown = (event) => this.point(event, stack);
      return { stack, picture, reading: spoken(), name };
    });
    return make("figure", {},
      this.buildControls(),
      make("div", { className: "panels" }, ...this.panels.map(({ name, picture, reading }) =>
        make("div", { className: "panel" }, make("p", { className: "title" }, name), picture, reading))),
      make("div", { className: "key" },
        make("span", { className: "legend", "aria-hidden": "true" },
          `${words.cosine}: 0`, make("span", { className: "ramp" }), "1"),
        make("span", { className: "hint" }, words.hint)),
      make("figcaption", {}, data.caption));
  }

  buildControls() {
    const { words } = this;
    const update = () => this.update();
    this.depth = slider(words.depth, { min: 1, max: this.deepest }, update);
    this.layer = slider(words.layer, { min: 0, max: this.deepest }, update);
    return make("form", { className: "controls", onsubmit: (event) => event.preventDefault() },
      this.depth, this.layer,
      make("button", { type: "button", onclick: () => this.reset() }, words.reset));
  }

  // ---- what changes ------------------------------------------------------------

  reset() {
    this.depth.input.value = this.deepest;
    this.layer.input.value = Math.ceil(this.deepest / 3);
    this.update();
  }

  point(event, stack) {
    const box = event.currentTarget.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * WIDE - LEFT) / (WIDE - LEFT - RIGHT);
    const deep = this.deepOf(stack);
    const layer = Math.min(Math.max(Math.round(share * deep), 0), deep);
    if (layer === Number(this.layer.input.value)) return;
    this.layer.input.value = layer;
    this.update();
  }

  deepOf({ added }) {
    return Math.min(Number(this.depth.input.value), added.length);
  }

  update() {
    const depth = Number(this.depth.input.value);
    this.layer.input.max = depth;
    const layer = Number(this.layer.input.value);
    this.depth.say(String(depth));
    this.layer.say(String(layer));
    const deep = (numbers, more) => numbers.slice(0, depth + more);
    this.largest = Math.max(...this.data.stacks.flatMap(({ sizes, added }) => [...deep(sizes, 1), ...deep(added, 0)]));
    // Bars and streams have one scale; the bars stand below the widest stream.
    const tallest = Math.max(...this.data.stacks.flatMap(({ added }) => deep(added, 0))) / this.largest;
    this.floor = MIDDLE + HALF + 36 + 2 * HALF * tallest;
    for (const panel of this.panels) this.draw(panel, layer);
  }

  draw({ stack, picture, reading }, wanted) {
    const { words, floor } = this;
    const deep = this.deepOf(stack);
    const layer = Math.min(wanted, deep);
    const { sizes, added } = stack;
    const cosines = stack.cosines[deep];
    const x = (at) => LEFT + (at / deep) * (WIDE - LEFT - RIGHT);
    const half = (at) => (sizes[at] / this.largest) * HALF;
    const step = (WIDE - LEFT - RIGHT) / deep;
    const points = (pairs) => pairs.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
    const text = (words_, attributes) => draw("text", attributes, words_);
    const pieces = Array.from({ length: deep }, (_, at) => {
      const piece = draw("polygon", {
        class: "piece",
        points: points([[x(at), MIDDLE - half(at)], [x(at + 1), MIDDLE - half(at + 1)],
          [x(at + 1), MIDDLE + half(at + 1)], [x(at), MIDDLE + half(at)]]),
      });
      piece.style.setProperty("--shade", Math.max(0, (cosines[at] + cosines[at + 1]) / 2).toFixed(3));
      return piece;
    });
    const bars = added.slice(0, deep).map((size, i) => {
      const height = (size / this.largest) * 2 * HALF;
      return draw("rect", {
        class: i + 1 === layer ? "bar here" : "bar",
        x: x(i + 0.5) - step * 0.35, width: step * 0.7, y: floor - height, height,
      });
    });
    picture.setAttribute("viewBox", `0 0 ${WIDE} ${Math.round(floor + 40)}`);
    picture.replaceChildren(
      ...pieces,
      draw("line", { class: "axis", x1: x(0), x2: x(deep), y1: floor, y2: floor }),
      ...bars,
      draw("line", { class: "mark", x1: x(layer), x2: x(layer), y1: MIDDLE - HALF, y2: floor }),
      draw("circle", { class: "dot", cx: x(layer), cy: MIDDLE, r: 5 }),
      text(words.stream, { x: 0, y: 17 }),
      text(words.added, { x: 0, y: MIDDLE + HALF + 28 }),
      ...[0, deep].map((tick, i) =>
        text(String(tick), { x: x(tick), y: floor + 20, "text-anchor": ["start", "end"][i] })),
      text(words.axis, { x: WIDE / 2, y: floor + 34, "text-anchor": "middle" }));
    const facts = {
      layer, depth: deep, size: format(sizes[layer]), cosine: format(cosines[layer]),
      added: format(added[layer - 1] ?? 0), share: Math.round((100 * (added[layer - 1] ?? 0)) / (sizes[layer] || 1)),
    };
    reading.replaceChildren(...sentence(layer ? words.reading : words.first, facts));
  }
}

define("residual-stream", ResidualStream);
