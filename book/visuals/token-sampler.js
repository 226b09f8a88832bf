// <token-sampler data='{"caption", "beginnings": [{"text", "tokens", "logits"}]}'>
//
// torch gave the logits; here the reader changes them, sees which tokens stay, and draws.

import { format, make, radios, shaded } from "./attention-marks.js";
import { CourseElement, define, sentence, slider, spoken } from "./element.js";
import { chances, drawn } from "./sampler-arithmetic.js";
import { WORDS } from "./sampler-words.js";
import style from "./token-sampler.css";

class TokenSampler extends CourseElement {
  static words = WORDS;
  static style = style;

  // ---- what stands on the page -------------------------------------------------

  build() {
    const { words, data } = this;
    this.most = Math.max(...data.beginnings.map(({ tokens }) => tokens.length));
    this.list = make("ol", { className: "tokens", "aria-label": words.tokens });
    this.reading = spoken();
    this.result = spoken();
    return make("figure", {},
      this.buildControls(), this.list, this.reading, this.result,
      make("p", { className: "key" }, make("span", { className: "hint" }, words.hint)),
      make("figcaption", {}, data.caption));
  }

  buildControls() {
    const { words, data } = this;
    const update = () => this.update();
    this.beginning = radios(words.beginning, data.beginnings.map(({ text }) => `${text} …`), update);
    this.temperature = slider(words.temperature, { min: 0, max: 2, step: 0.1 }, update);
    this.k = slider(words.k, { min: 1, max: this.most }, update);
    this.p = slider(words.p, { min: 0.05, max: 1, step: 0.05 }, update);
    const button = (text, onclick) => make("button", { type: "button", onclick }, text);
    return make("form", { className: "controls", onsubmit: (event) => event.preventDefault() },
      this.beginning, this.temperature, this.k, this.p,
      button(words.draw, () => this.draw(1)),
      button(words.many, () => this.draw(100)),
      button(words.reset, () => this.reset()));
  }

  // ---- what changes ------------------------------------------------------------

  reset() {
    this.beginning.choose(0);
    this.temperature.input.value = 1;
    this.k.input.value = this.most;
    this.p.input.value = 0.9;
    this.update();
  }

  update() {
    const [temperature, k, p] = [this.temperature, this.k, this.p].map(({ input }) => Number(input.value));
    this.temperature.say(temperature.toFixed(1));
    this.k.say(String(k));
    this.p.say(p.toFixed(2));
    const { tokens, logits } = this.data.beginnings[this.beginning.chosen()];
    const { before, after } = chances(logits, { temperature, k, p });
    Object.assign(this, { tokens, shares: after, counts: tokens.map(() => 0), last: -1 });
    const kept = after.filter((share) => share > 0).length;
    const share = before.reduce((total, one, token) => total + (after[token] > 0 ? one : 0), 0);
    const facts = { kept, all: tokens.length, share: Math.round(100 * share) };
    this.reading.replaceChildren(...sentence(this.words.reading, facts));
    this.show();
  }

  draw(times) {
    for (let i = 0; i < times; i += 1) {
      this.last = drawn(this.shares, Math.random());
      this.counts[this.last] += 1;
    }
    this.show();
  }

  show() {
    const { words, tokens, shares, counts, last } = this;
    const largest = Math.max(...shares);
    this.list.replaceChildren(...tokens.map((token, i) => {
      const name = make(shares[i] > 0 ? "b" : "del", {}, token);
      const item = make("li", {}, name);
      if (shares[i] > 0) {
        shaded(item, shares[i] / largest).append(make("span", {}, format(shares[i])));
      } else {
        item.className = "dropped";
        item.append(make("span", { className: "unseen" }, words.dropped));
      }
      if (counts[i]) item.append(make("span", { className: "times" }, `×${counts[i]}`));
      if (i === last) item.classList.add("last");
      return item;
    }));
    const count = counts.reduce((total, one) => total + one, 0);
    this.result.replaceChildren(
      ...(count ? sentence(words.one, { count, token: tokens[last] }) : [words.nothing]));
  }
}

define("token-sampler", TokenSampler);
