// <model-card data='{"caption", "context", "cards": [{"name", "d_model", "num_heads", ...}]}'>
//
// The reader picks a published model, or types a card. All that is shown is counted here.

import { make } from "./attention-marks.js";
import { cacheBytes, fault, flopsPerToken, parameters } from "./card-arithmetic.js";
import { WORDS } from "./card-words.js";
import { CourseElement, define, sentence, spoken } from "./element.js";
import style from "./model-card.css";

const BYTES = [[1e12, " TB"], [1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [1, " bytes"]];

/** A number in three digits and a unit: 8.03 billion. */
function short(number, units) {
  const [size, unit] = units.find(([size]) => number >= size) ?? [1, ""];
  const scaled = number / size;
  const digits = Number.isInteger(scaled) || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  return scaled.toFixed(digits) + unit;
}

class ModelCard extends CourseElement {
  static words = WORDS;
  static style = style;

  // ---- what stands on the page -------------------------------------------------

  build() {
    const { words, data } = this;
    this.bar = make("div", { className: "bar", "aria-hidden": "true" });
    this.rows = make("tbody");
    this.reading = spoken();
    const head = [words.part, words.count, words.share].map((text) => make("th", { scope: "col" }, text));
    const table = make("table", {}, make("caption", {}, words.table),
      make("thead", {}, make("tr", {}, ...head)), this.rows);
    return make("figure", {},
      this.buildControls(),
      this.bar,
      make("div", { className: "found" }, this.scroller(table, words.table), this.reading),
      make("figcaption", {}, data.caption));
  }

  buildControls() {
    const { words, data } = this;
    const options = data.cards.map(({ name }) => make("option", { value: name }, name));
    this.names = make("select", { onchange: () => this.pick() }, ...options);
    this.fields = Object.entries(words.fields).map(([name, word]) => {
      const least = name === "decoder_layers" || name === "context" ? 0 : 1;
      const input = make("input", { type: "number", min: least, max: 1e6, step: 1, inputMode: "numeric" });
      input.oninput = () => this.type(name);
      return { name, input, label: make("label", { className: "field" }, word, input) };
    });
    const box = (word) => {
      const input = make("input", { type: "checkbox", onchange: () => this.update() });
      return Object.assign(make("label", {}, input, word), { input });
    };
    this.gated = box(words.gated);
    this.untied = box(words.untied);
    return make("form", { className: "controls", onsubmit: (event) => event.preventDefault() },
      make("label", {}, words.model, this.names),
      make("button", { type: "button", onclick: () => this.reset() }, words.reset),
      make("fieldset", { className: "fields" }, make("legend", {}, words.card),
        ...this.fields.map(({ label }) => label), this.gated, this.untied));
  }

  // ---- what changes ------------------------------------------------------------

  reset() {
    this.names.selectedIndex = 0;
    this.pick();
  }

  /** Writes a published card into the fields. */
  pick() {
    this.picked = this.data.cards[this.names.selectedIndex];
    for (const { name, input } of this.fields) input.value = this.picked[name] ?? this.data.context;
    this.gated.input.checked = this.picked.gated;
    this.untied.input.checked = this.picked.head === "untied";
    this.update();
  }

  /** With another width or number of heads, a head gets its share of the width. */
  type(name) {
    const { d_model, num_heads } = this.typed();
    if ((name === "d_model" || name === "num_heads") && d_model % num_heads === 0) {
      this.fields.find((field) => field.name === "d_head").input.value = d_model / num_heads;
    }
    this.update();
  }

  typed() {
    return Object.fromEntries(this.fields.map(({ name, input }) => [name, input.valueAsNumber]));
  }

  /** The card in the fields; what has no field is that of the picked model. */
  card() {
    const head = this.untied.input.checked ? "untied" : this.picked.head === "untied" ? "tied" : this.picked.head;
    return { ...this.picked, ...this.typed(), gated: this.gated.input.checked, head };
  }

  update() {
    const { words } = this;
    const card = this.card();
    const wrong = fault(card, card.context);
    for (const { name, input } of this.fields) {
      const shares = wrong === "share" && (name === "num_heads" || name === "num_kv_heads");
      input.ariaInvalid = String(shares || !input.validity.valid || input.value === "");
    }
    if (wrong) {
      this.bar.replaceChildren();
      this.rows.replaceChildren();
      this.reading.replaceChildren(wrong === "share" ? words.share_fault : words.number);
      return;
    }
    const counts = parameters(card);
    const parts = Object.entries(counts).filter(([name]) => name !== "all");
    this.bar.replaceChildren(...parts.map(([name, count]) => {
      const piece = make("span", { className: `piece ${name}` });
      piece.style.flexGrow = count / counts.all;
      return piece;
    }));
    this.rows.replaceChildren(...Object.entries(counts).map(([name, count]) =>
      make("tr", { className: name === "all" ? "all" : "" },
        make("th", { scope: "row" }, make("span", { className: `swatch ${name}`, "aria-hidden": "true" }), words.parts[name]),
        make("td", {}, count.toLocaleString("en")),
        make("td", {}, `${((100 * count) / counts.all).toFixed(1)} %`))));
    this.reading.replaceChildren(...sentence(words.reading, {
      all: short(counts.all, words.units),
      weights: short(2 * counts.all, BYTES),
      context: card.context.toLocaleString("en"),
      flops: short(flopsPerToken(card, card.context), words.units),
      each: short(cacheBytes(card, 1), BYTES),
      cache: short(cacheBytes(card, card.context), BYTES),
    }));
  }
}

define("model-card", ModelCard);
