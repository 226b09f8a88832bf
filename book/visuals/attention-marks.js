// Small pieces of the page: elements, numbers, vectors, shades, labels.

/** An element with its properties (or attributes, where it has no such property) and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function format(number) {
  if (number === -Infinity) return "−∞";
  return (Math.abs(number) < 0.005 ? 0 : number).toFixed(2).replace("-", "−");
}

export function vector(sign, numbers) {
  const components = numbers.map((number) => make("span", {}, format(number)));
  const commas = components.flatMap((component, i) => (i ? [", ", component] : [component]));
  const signed = make("span", { className: "sign" }, sign);
  return make("td", { className: "vector" }, signed, "[", ...commas, "]");
}

/** A group of choices of which one is chosen: choose(i) and chosen(). */
export function radios(legend, choices, oninput) {
  const inputs = choices.map(() => make("input", { type: "radio", name: legend, oninput }));
  const labels = choices.map((choice, i) => make("label", {}, inputs[i], choice));
  return Object.assign(make("fieldset", {}, make("legend", {}, legend), ...labels), {
    choose: (i) => { inputs[i].checked = true; },
    chosen: () => inputs.findIndex((input) => input.checked),
  });
}

/** Gives a cell a colour between the ground (0) and the deepest shade (1). */
export function shaded(cell, share) {
  cell.classList.add("shaded");
  cell.style.setProperty("--shade", share.toFixed(4));
  return cell;
}

/** The tokens; those that occur more than once carry their position: the₁ bank of the₄ river. */
export function labelled(tokens) {
  const lowered = (number) => String(number).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]);
  const repeated = (token) => tokens.indexOf(token) !== tokens.lastIndexOf(token);
  return tokens.map((token, i) => (repeated(token) ? token + lowered(i + 1) : token));
}
