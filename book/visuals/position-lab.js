// <position-lab data='{"caption", "length", "widths", "base", "behind", "learned", ...}'>
//
// Waves, turns and buckets are computed here; learned numbers come from torch.

import { format, make, radios } from "./attention-marks.js";
import { CourseElement, define, draw, sentence, slider, spoken } from "./element.js";
import { dot, rotate, sinusoidal, t5Bucket } from "./position-arithmetic.js";
import { WORDS } from "./position-words.js";
import chart from "./chart.css";
import style from "./position-lab.css";

const [WIDE, HIGH] = [440, 250];
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 12, 34, 50];

class PositionLab extends CourseElement {
  static words = WORDS;
  static style = chart + style;

  // ---- what stands on the page -------------------------------------------------

  build() {
    const { words, data } = this;
    this.schemes = ["sinusoidal", "learned", "rotary", "T5"].filter((name) => name !== "learned" || data.learned);
    this.reading = spoken();
    this.chart = draw("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" });
    this.chart.onpointerdown = (event) => this.point(event);
    this.chart.onpointermove = (event) => event.buttons && this.point(event);
    this.vectors = make("div", { className: "vectors" });
    return make("figure", {},
      this.buildControls(),
      make("div", { className: "panels" },
        make("div", { className: "panel" }, this.chart,
          make("div", { className: "key" }, make("span", { className: "hint" }, words.hint))),
        make("div", { className: "panel" }, this.reading, this.vectors)),
      make("figcaption", {}, data.caption));
  }

  buildControls() {
    const { words, data } = this;
    const update = () => { this.before = null; this.update(); };
    const last = { min: 0, max: data.length - 1 };
    this.scheme = radios(words.scheme, this.schemes.map((name) => words[name]), update);
    this.place = slider(words.place, last, update);
    this.other = slider(words.other, last, update);
    this.width = slider(words.width, { min: 0, max: data.widths.length - 1 }, update);
    this.byDistance = make("input", { type: "checkbox", oninput: () => this.update() });
    const button = (word, onclick) => make("button", { type: "button", onclick }, word);
    return make("form", { className: "controls", onsubmit: (event) => event.preventDefault() },
      this.scheme, this.place, this.other, this.width,
      make("span", { className: "pair" },
        button(words.back, () => this.moveBoth(-1)), button(words.on, () => this.moveBoth(1))),
      make("label", {}, this.byDistance, words.byDistance),
      button(words.reset, () => this.reset()));
  }

  // ---- what changes ------------------------------------------------------------

  reset() {
    const { length, widths } = this.data;
    this.scheme.choose(0);
    this.place.input.value = Math.floor(length / 3);
    this.other.input.value = Math.floor(length / 3) + 3;
    this.width.input.value = widths.length - 1;
    this.byDistance.checked = false;
    this.before = null;
    this.update();
  }

  /** Both places move by one, unless one of them stands at an end. */
  moveBoth(step) {
    const places = [this.place, this.other].map(({ input }) => Number(input.value) + step);
    if (Math.min(...places) < 0 || Math.max(...places) >= this.data.length) return;
    this.before = this.now;
    [this.place.input.value, this.other.input.value] = places;
    this.update();
  }

  point(event) {
    const box = this.chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDE;
    const share = (x - LEFT) / (WIDE - LEFT - RIGHT);
    const [from, to] = this.domain();
    const shift = this.byDistance.checked ? this.s : 0;
    const t = Math.round(from + share * (to - from)) + shift;
    this.other.input.value = Math.min(Math.max(t, 0), this.data.length - 1);
    this.before = null;
    this.update();
  }

  /** The two vectors that meet, or null where a scheme has none. */
  pair(s, t) {
    const { base, learned, behind } = this.data;
    const w = this.w;
    if (this.name === "sinusoidal") return [sinusoidal(s, w, base), sinusoidal(t, w, base)];
    if (this.name === "learned") return [learned[s].slice(0, w), learned[t].slice(0, w)];
    if (this.name === "T5") return null;
    const query = Array(w).fill(1);
    return [rotate(query, s, base), rotate(rotate(query, behind, base), t, base)];
  }

  bucket(s, t) {
    return t5Bucket(t - s, this.data.num_buckets, this.data.max_distance);
  }

  number(s, t) {
    const pair = this.pair(s, t);
    if (pair) return dot(...pair);
    const bucket = this.bucket(s, t);
    return this.data.bias ? this.data.bias[bucket] : bucket;
  }

  what() {
    if (this.name === "T5") return this.data.bias ? this.words.bias : this.words.bucket;
    return this.name === "rotary" ? this.words.score : this.words.dot;
  }

  update() {
    const { words, data } = this;
    this.name = this.schemes[this.scheme.chosen()];
    this.s = Number(this.place.input.value);
    this.t = Number(this.other.input.value);
    this.w = data.widths[this.width.input.value];
    this.place.say(String(this.s));
    this.other.say(String(this.t));
    this.width.say(this.name === "T5" ? "–" : String(this.w));
    this.width.input.disabled = this.name === "T5";
    this.now = this.number(this.s, this.t);
    const facts = {
      s: this.s, t: this.t, d: whole(this.t - this.s), now: this.said(this.now),
    };
    const reading = words.reading.replace("{what}", this.what());
    this.reading.replaceChildren(...sentence(reading, facts));
    if (this.before !== null) {
      this.reading.append(" ", ...sentence(words.moved, { before: this.said(this.before) }));
    }
    this.drawVectors();
    this.drawChart();
  }

  said(number) {
    return this.name === "T5" && !this.data.bias ? String(number) : format(number);
  }

  // ---- the vectors -------------------------------------------------------------

  drawVectors() {
    const { words, s, t } = this;
    const pair = this.pair(s, t);
    if (!pair) {
      const facts = { d: whole(t - s), bucket: this.bucket(s, t), all: this.data.num_buckets };
      this.vectors.replaceChildren(make("p", {}, ...sentence(words.noVector, facts)));
      return;
    }
    const largest = Math.max(1e-9, ...pair.flat().map(Math.abs));
    const names = this.name === "rotary" ? [words.queryAt, words.keyAt] : [words.vectorAt, words.vectorAt];
    this.vectors.replaceChildren(...pair.map((vector, i) => {
      const name = names[i].replace("{place}", [s, t][i]);
      const spoken = `${name}: ${vector.map(format).join(", ")}`;
      return make("div", {}, make("small", {}, name), bars(vector, largest, i, spoken));
    }));
  }

  // ---- the picture -------------------------------------------------------------

  domain() {
    const last = this.data.length - 1;
    return this.byDistance.checked ? [-last, last] : [0, last];
  }

  /** One place's number with every other place, as points of the picture. */
  curve(s) {
    const shift = this.byDistance.checked ? s : 0;
    return Array.from({ length: this.data.length }, (_, t) => [t - shift, this.number(s, t)]);
  }

  drawChart() {
    const { words, s, t, data } = this;
    const last = data.length - 1;
    const others = this.byDistance.checked ? [0, 1 / 4, 1 / 2, 3 / 4, 1].map((share) => Math.round(share * last)) : [];
    const curve = this.curve(s);
    const faint = others.map((place) => this.curve(place));
    const heights = [...faint, curve].flat().map(([, y]) => y);
    let [low, high] = [Math.min(0, ...heights), Math.max(0, ...heights)];
    if (high - low < 1e-9) high = low + 1;
    const [from, to] = this.domain();
    const x = (at) => LEFT + ((at - from) / (to - from)) * (WIDE - LEFT - RIGHT);
    const y = (at) => HIGH - BOTTOM - ((at - low) / (high - low)) * (HIGH - TOP - BOTTOM);
    const line = (points, className) => draw("polyline", {
      class: className, points: points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" "),
    });
    const text = (words_, attributes) => draw("text", attributes, words_);
    const ticks = [low, high, 0].filter((tick, i, all) =>
      all.indexOf(tick) === i && (i < 2 || Math.min(tick - low, high - tick) > (high - low) / 8));
    const xTicks = this.byDistance.checked ? [-last, 0, last] : [0, Math.round(last / 2), last];
    const here = this.byDistance.checked ? t - s : t;
    const own = this.byDistance.checked ? 0 : s;
    this.chart.replaceChildren(
      line([[from, 0], [to, 0]], "axis"),
      draw("line", { class: "own", x1: x(own), x2: x(own), y1: TOP, y2: HIGH - BOTTOM }),
      ...faint.map((points) => line(points, "faint")),
      line(curve, "curve"),
      draw("circle", { class: "here", cx: x(here), cy: y(this.now), r: 6 }),
      ...ticks.map((tick) => text(this.said(tick), { x: LEFT - 6, y: y(tick) + 5, "text-anchor": "end" })),
      ...xTicks.map((tick, i) => text(whole(tick), {
        x: x(tick), y: HIGH - BOTTOM + 21, "text-anchor": ["start", "middle", "end"][i],
      })),
      text(this.byDistance.checked ? words.axisDistance : words.axisPlace,
        { x: (LEFT + WIDE - RIGHT) / 2, y: HIGH - 6, "text-anchor": "middle" }),
      text(this.what(), { x: 0, y: 15 }));
    const spoken = curve.map(([at, height]) => `${whole(at)}: ${this.said(height)}`).join(", ");
    this.chart.setAttribute("aria-label", `${words.pictures}. ${spoken}`);
  }
}

/** A bar for each number of a vector, up or down from the middle. */
function bars(vector, largest, i, spoken) {
  const [wide, high] = [440, 56];
  const step = wide / vector.length;
  const picture = draw("svg", { class: `bars bars${i}`, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": spoken },
    draw("line", { class: "axis", x1: 0, x2: wide, y1: high / 2, y2: high / 2 }));
  vector.forEach((number, at) => {
    const height = (Math.abs(number) / largest) * (high / 2 - 2);
    picture.append(draw("rect", {
      x: at * step + step * 0.1, width: step * 0.8, y: number > 0 ? high / 2 - height : high / 2, height,
    }));
  });
  return picture;
}

function whole(number) {
  return String(number).replace("-", "−");
}

define("position-lab", PositionLab);
