// <attention-explorer data='{"caption", "scaled", "causal", "sentences": [...]}'>
//
// torch sends q·k and the values; everything after that is computed here, so that
// the reader can switch each step off.

import { attentionScores, softmax, weightedSum } from "./attention-arithmetic.js";
import { format, labelled, make, radios, shaded, vector } from "./attention-marks.js";
import { WORDS } from "./attention-words.js";
import { CourseElement, define, spoken } from "./element.js";
import style from "./attention-explorer.css";

class AttentionExplorer extends CourseElement {
  static words = WORDS;
  static style = style;

  // ---- what stands on the page -------------------------------------------------

  build() {
    const words = this.words;
    this.reading = spoken();
    this.grid = make("table", {
      className: "grid",
      role: "grid",
      onclick: (event) => this.choose(event.target.closest("td")),
      onkeydown: (event) => this.move(event),
    });
    this.sum = make("table", { className: "sum" });
    const grid = this.scroller(this.grid, words.weights);
    const sum = this.scroller(this.sum, words.output);
    return make("figure", {},
      this.buildControls(),
      make("div", { className: "panels" },
        make("div", { className: "panel" }, grid, this.buildKey()),
        make("div", { className: "panel" }, this.reading, sum)),
      make("figcaption", {}, this.data.caption));
  }

  /** What the shades mean, and how to choose a cell. */
  buildKey() {
    [this.low, this.high] = [make("span"), make("span")];
    const ramp = make("span", { className: "ramp" });
    return make("div", { className: "key" },
      make("span", { className: "legend", "aria-hidden": "true" }, this.low, ramp, this.high),
      make("span", { className: "hint" }, this.words.hint));
  }

  buildControls() {
    const words = this.words;
    const update = () => this.update();
    this.scaled = make("input", { type: "checkbox", oninput: update });
    this.causal = make("input", { type: "checkbox", oninput: update });
    const range = { min: -3, max: 3, step: 0.25 };
    this.exponent = make("input", { type: "range", ...range, oninput: update });
    this.temperatureShown = make("output");
    this.show = radios(words.show, [words.weights, words.scores], update);
    const sentences = this.data.sentences.map(({ tokens }) => tokens.join(" "));
    this.sentences = radios(words.sentence, sentences, () => this.openSentence());
    this.sentences.hidden = sentences.length === 1;
    return make("form", { className: "controls", onsubmit: (event) => event.preventDefault() },
      this.sentences,
      this.show,
      make("label", {}, this.scaled, words.scaled),
      make("label", {}, this.causal, words.causal),
      make("label", {}, words.temperature, this.exponent, this.temperatureShown),
      make("button", { type: "button", onclick: () => this.reset() }, words.reset));
  }

  buildGrid() {
    const { words, labels } = this;
    this.columnHeads = labels.map((label) => make("th", { scope: "col" }, label));
    this.rowHeads = labels.map((label) => make("th", { scope: "row" }, label));
    this.cells = labels.map((_, row) => labels.map((_, column) => {
      const cell = make("td", { role: "gridcell" });
      return Object.assign(cell, { row, column });
    }));
    const head = (word, gloss, properties) =>
      make("th", properties, word, make("small", {}, gloss));
    const rows = this.cells.map((cells, row) => make("tr", {}, this.rowHeads[row], ...cells));
    this.gridCaption = make("caption", {}, make("span"));
    this.grid.replaceChildren(this.gridCaption,
      make("thead", {},
        make("tr", {},
          head(words.query, words.asks, { scope: "col", rowSpan: 2, className: "corner" }),
          head(words.key, words.lookedAt, { scope: "colgroup", colSpan: labels.length })),
        make("tr", {}, ...this.columnHeads)),
      make("tbody", {}, ...rows));
  }

  // ---- what changes ------------------------------------------------------------

  reset() {
    this.scaled.checked = this.data.scaled;
    this.causal.checked = this.data.causal;
    this.exponent.value = 0;
    this.show.choose(0);
    this.sentences.choose(0);
    this.openSentence();
  }

  openSentence() {
    this.sentence = this.data.sentences[this.sentences.chosen()];
    this.labels = labelled(this.sentence.tokens);
    this.buildGrid();
    this.compute();
    this.row = this.sentence.focus;
    this.column = this.weights[this.row].indexOf(Math.max(...this.weights[this.row]));
    this.update();
  }

  compute() {
    this.temperature = 2 ** this.exponent.value;
    this.scores = attentionScores(this.sentence.products, this.sentence.d_k, {
      scaled: this.scaled.checked,
      causal: this.causal.checked,
      temperature: this.temperature,
    });
    this.weights = this.scores.map(softmax);
  }

  update() {
    this.compute();
    this.temperatureShown.value = format(this.temperature);
    this.exponent.setAttribute("aria-valuetext", format(this.temperature));
    this.drawNumbers();
    this.drawSelection();
  }

  drawNumbers() {
    const showWeights = this.show.chosen() === 0;
    const shown = showWeights ? this.weights : this.scores;
    const finite = this.scores.flat().filter(Number.isFinite);
    const [low, high] = showWeights ? [0, 1] : [Math.min(...finite), Math.max(...finite)];
    for (const cell of this.cells.flat()) {
      const number = shown[cell.row][cell.column];
      cell.textContent = format(number);
      shaded(cell, Math.max(0, (number - low) / (high - low || 1)));
      cell.classList.toggle("masked", this.scores[cell.row][cell.column] === -Infinity);
    }
    this.low.textContent = format(low);
    this.high.textContent = format(high);
    const formula = this.formula();
    this.gridCaption.firstChild.textContent = showWeights
      ? `${this.words.weightsCaption}: softmax(${formula})`
      : `${this.words.scoresCaption}: ${formula}`;
  }

  formula() {
    const divisors = [];
    if (this.scaled.checked) divisors.push(`√${this.sentence.d_k}`);
    if (this.temperature !== 1) divisors.push(format(this.temperature));
    return ["q·k", "q·k / " + divisors, `q·k / (${divisors.join(" · ")})`][divisors.length];
  }

  drawSelection() {
    for (const cell of this.cells.flat()) {
      const chosen = cell.row === this.row && cell.column === this.column;
      cell.tabIndex = chosen ? 0 : -1;
      cell.setAttribute("aria-selected", chosen);
      cell.parentElement.classList.toggle("chosen", cell.row === this.row);
    }
    this.columnHeads.forEach((head, column) =>
      head.classList.toggle("chosen", column === this.column));
    this.drawReading();
    this.drawSum();
  }

  drawReading() {
    const { words, row, column, sentence } = this;
    let score = sentence.products[row][column];
    const steps = [`q·k = ${format(score)}`];
    const divide = (divisor, text) => {
      score /= divisor;
      steps.push(`÷ ${text} = ${format(score)}`);
    };
    if (this.scaled.checked) divide(Math.sqrt(sentence.d_k), `√${sentence.d_k}`);
    if (this.temperature !== 1) divide(this.temperature, format(this.temperature));
    if (this.scores[row][column] === -Infinity) steps.push(words.masked);
    steps.push(`softmax = ${format(this.weights[row][column])}`);
    const chain = steps.flatMap((step, i) => [" ", make("span", {}, i ? `→ ${step}` : step)]);
    this.reading.replaceChildren(
      `${words.query} `, make("b", {}, this.labels[row]),
      `, ${words.key} `, make("b", {}, this.labels[column]), ":", make("br"), ...chain);
  }

  drawSum() {
    const { words, labels, sentence } = this;
    const weights = this.weights[this.row];
    const { contributions, output } = weightedSum(weights, sentence.values);
    const heads = [words.key, words.weight, words.value, words.contribution]
      .map((head) => make("th", { scope: "col" }, head));
    const row = (label, key) => make("tr", { className: key === this.column ? "chosen" : "" },
      make("th", { scope: "row" }, label),
      shaded(make("td", {}, format(weights[key])), weights[key]),
      vector("×", sentence.values[key]),
      vector("=", contributions[key]));
    const name = `${words.output}(${labels[this.row]})`;
    this.sum.replaceChildren(
      make("caption", {}, make("span", {}, `${name} = Σ ${words.weight} × ${words.value}`)),
      make("thead", {}, make("tr", {}, ...heads)),
      make("tbody", {}, ...labels.map(row)),
      make("tfoot", {}, make("tr", {},
        make("th", { scope: "row" }, words.output),
        make("td", {}, format(1)),
        make("td"),
        vector("=", output))));
  }

  // ---- mouse and keyboard --------------------------------------------------------

  choose(cell) {
    if (!cell) return;
    this.row = cell.row;
    this.column = cell.column;
    this.drawSelection();
    cell.focus();
  }

  move(event) {
    if (event.altKey || event.metaKey) return;
    const last = this.labels.length - 1;
    const within = (i) => Math.min(Math.max(i, 0), last);
    const { row, column } = this;
    const target = {
      ArrowUp: [within(row - 1), column],
      ArrowDown: [within(row + 1), column],
      ArrowLeft: [row, within(column - 1)],
      ArrowRight: [row, within(column + 1)],
      Home: [event.ctrlKey ? 0 : row, 0],
      End: [event.ctrlKey ? last : row, last],
    }[event.key];
    if (!target) return;
    event.preventDefault();
    this.choose(this.cells[target[0]][target[1]]);
  }
}

define("attention-explorer", AttentionExplorer);
