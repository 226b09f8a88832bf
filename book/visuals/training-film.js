// <training-film data='{"caption", "tokens", "heads", "steps", "charts": [{"title", "lines"}], "maps"}'>
//
// torch trained and looked; here the reader goes through the steps and asks for a token.

import { format, labelled, make, shaded } from "./attention-marks.js";
import { CourseElement, define, draw, sentence, slider, spoken } from "./element.js";
import { unfold } from "./film-arithmetic.js";
import { WORDS } from "./film-words.js";
import chart from "./chart.css";
import style from "./training-film.css";

const WIDE = 320;
const TALL = 150;
const [LEFT, RIGHT, TOP, BOTTOM] = [4, 4, 10, 24]; // around a chart
const CELL = 8;
const PAUSE = 250; // milliseconds a frame

class TrainingFilm extends CourseElement {
  static words = WORDS;
  static style = chart + style;

  disconnectedCallback() {
    this.stop();
  }

  // ---- what stands on the page -------------------------------------------------

  build() {
    const { data } = this;
    this.labels = labelled(data.tokens);
    this.frames = data.maps.map((shades) => unfold(shades, data.tokens.length));
    this.charts = data.charts.map((chart) => this.buildChart(chart));
    this.maps = this.frames[0].map((_, i) => this.buildMap(i));
    this.reading = spoken();
    this.looks = spoken();
    this.row = data.tokens.map((token) => make("span", {}, token));
    const layers = [];
    for (let i = 0; i < this.maps.length; i += data.heads) layers.push(this.maps.slice(i, i + data.heads));
    return make("figure", {},
      this.buildControls(),
      make("div", { className: "charts" }, ...this.charts.map(({ panel }) => panel)),
      this.reading,
      make("p", { className: "tokens", "aria-hidden": "true" }, ...this.row),
      ...layers.map((maps, layer) => make("div", { className: "layer" },
        make("p", { className: "title" }, `${this.words.layer} ${layer + 1}`),
        make("div", { className: "maps" }, ...maps.map(({ panel }) => panel)))),
      this.looks,
      make("p", { className: "key" },
        make("span", { className: "legend", "aria-hidden": "true" },
          `${this.words.weight}: 0`, make("span", { className: "ramp" }), "1"),
        make("span", { className: "hint" }, this.words.hint)),
      make("figcaption", {}, data.caption));
  }

  buildControls() {
    const { words, data } = this;
    this.time = slider(words.step, { min: 0, max: data.steps.length - 1 }, () => this.stop() || this.update());
    this.asking = slider(words.token, { min: 0, max: data.tokens.length - 1 }, () => this.update());
    this.button = make("button", { type: "button", onclick: () => (this.timer ? this.stop() : this.play()) });
    return make("form", { className: "controls", onsubmit: (event) => event.preventDefault() },
      this.time, this.button, this.asking,
      make("button", { type: "button", onclick: () => this.reset() }, words.reset));
  }

  buildChart({ title, lines }) {
    const { steps } = this.data;
    const numbers = Object.values(lines);
    const most = Math.max(...numbers.flat()) || 1;
    const x = (i) => LEFT + (steps[i] / steps[steps.length - 1]) * (WIDE - LEFT - RIGHT);
    const y = (number) => TOP + (1 - number / most) * (TALL - TOP - BOTTOM);
    const text = (words, attributes) => draw("text", attributes, words);
    const name = this.words.titles[title] ?? title;
    const mark = draw("line", { class: "mark", y1: TOP, y2: y(0) });
    const dots = numbers.map((_, line) => draw("circle", { class: `dot line${line}`, r: 4.5 }));
    const picture = draw("svg", { role: "img", "aria-label": name, viewBox: `0 0 ${WIDE} ${TALL}` },
      draw("line", { class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: y(0), y2: y(0) }),
      ...numbers.map((line, i) => draw("polyline", {
        class: `curve line${i}`,
        points: line.map((number, at) => `${x(at).toFixed(1)},${y(number).toFixed(1)}`).join(" "),
      })),
      mark, ...dots,
      text(String(steps[0]), { x: LEFT, y: TALL - 6 }),
      text(String(steps[steps.length - 1]), { x: WIDE - RIGHT, y: TALL - 6, "text-anchor": "end" }));
    const key = make("ul", { className: "lines" }, ...Object.keys(lines).map((line, i) =>
      make("li", { className: `line${i}` }, this.words.titles[line] ?? line, " ", make("b"))));
    picture.onpointerdown = (event) => this.point(event, picture);
    picture.onpointermove = (event) => event.buttons && this.point(event, picture);
    const panel = make("div", { className: "chart" }, make("p", { className: "title" }, name), picture, key);
    return { panel, numbers, x, y, mark, dots, shown: [...key.querySelectorAll("b")] };
  }

  buildMap(i) {
    const size = this.data.tokens.length;
    const cells = this.frames[0][i].map((row, query) => row.map((_, key) =>
      draw("rect", { x: key * CELL, y: query * CELL, width: CELL, height: CELL })));
    const row = draw("rect", { class: "row", height: CELL });
    const picture = draw("svg", { role: "img", viewBox: `-2 -2 ${size * CELL + 4} ${size * CELL + 4}` },
      draw("path", { class: "ground", d: `M0 0V${size * CELL}H${size * CELL}Z` }), ...cells.flat(), row);
    const said = make("p", { className: "look" });
    picture.onpointerdown = picture.onpointermove = (event) => {
      const box = picture.getBoundingClientRect();
      const at = Math.floor(((event.clientY - box.top) / box.height) * size);
      this.ask(Math.min(Math.max(at, 0), size - 1));
    };
    return { panel: make("div", { className: "map" }, picture, said), picture, cells, row, said };
  }

  // ---- what changes ------------------------------------------------------------

  reset() {
    this.stop();
    this.time.input.value = this.data.steps.length - 1;
    this.asking.input.value = this.data.tokens.length - 2;
    this.update();
  }

  play() {
    const { input } = this.time;
    if (input.value === input.max) input.value = 0;
    else input.value = Number(input.value) + 1;
    this.timer = setInterval(() => {
      input.value = Number(input.value) + 1;
      if (input.value === input.max) this.stop();
      this.update();
    }, PAUSE);
    this.say();
    this.update();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.say();
  }

  /** While the film runs, nothing is read out but its end. */
  say() {
    this.button.textContent = this.timer ? this.words.pause : this.words.play;
    for (const told of [this.reading, this.looks]) told.setAttribute("aria-live", this.timer ? "off" : "polite");
  }

  point(event, picture) {
    const { steps } = this.data;
    const box = picture.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * WIDE - LEFT) / (WIDE - LEFT - RIGHT);
    const wanted = share * steps[steps.length - 1];
    const away = steps.map((step) => Math.abs(step - wanted));
    this.time.input.value = away.indexOf(Math.min(...away));
    this.stop();
    this.update();
  }

  ask(at) {
    if (at === Number(this.asking.input.value)) return;
    this.asking.input.value = at;
    this.update();
  }

  update() {
    const { words, data, labels } = this;
    const [at, query] = [this.time, this.asking].map(({ input }) => Number(input.value));
    this.time.say(String(data.steps[at]));
    this.asking.say(labels[query]);
    for (const { numbers, x, y, mark, dots, shown } of this.charts) {
      mark.setAttribute("x1", x(at));
      mark.setAttribute("x2", x(at));
      numbers.forEach((line, i) => {
        dots[i].setAttribute("cx", x(at));
        dots[i].setAttribute("cy", y(line[at]));
        shown[i].textContent = format(line[at]);
      });
    }
    const looks = this.frames[at].map((map, i) => this.show(this.maps[i], map, query, i));
    const told = data.charts.flatMap(({ lines }) =>
      Object.entries(lines).map(([name, line]) => `${words.titles[name] ?? name} ${format(line[at])}`));
    this.reading.replaceChildren(...sentence(words.reading, { step: data.steps[at] }), `${told.join(", ")}.`);
    this.row.forEach((token, i) => token.classList.toggle("asks", i === query));
    this.row.forEach((token, i) => shaded(token, Math.max(...this.frames[at].map((map) => map[query][i] ?? 0))));
    const strongest = looks.reduce((best, look) => (look.weight > best.weight ? look : best));
    this.looks.replaceChildren(...sentence(words.looks, {
      token: labels[query], layer: Math.floor(strongest.i / data.heads) + 1,
      head: (strongest.i % data.heads) + 1, key: labels[strongest.key], weight: strongest.weight.toFixed(1), // one of 64 shades is no more exact
    }));
  }

  /** Draws one map, and tells where the query looks most. */
  show({ picture, cells, row, said }, map, query, i) {
    map.forEach((weights, y) => weights.forEach((weight, x) => cells[y][x].setAttribute("fill-opacity", weight.toFixed(2))));
    row.setAttribute("y", query * CELL);
    row.setAttribute("width", (query + 1) * CELL);
    const weight = Math.max(...map[query]);
    const key = map[query].indexOf(weight);
    const text = `${this.words.head} ${(i % this.data.heads) + 1}: ${this.labels[key]} ${weight.toFixed(1)}`;
    said.textContent = text;
    picture.setAttribute("aria-label", text);
    return { i, key, weight };
  }
}

define("training-film", TrainingFilm);
