// The arithmetic of attention on plain arrays. Compared with torch in
// tests/visuals/test_arithmetic.py.

/**
 * What softmax receives: q·k, divided by √d_k and by the temperature, with the
 * keys after the query at -Infinity where the mask is causal.
 *
 * @param {number[][]} products q·k, one row for each query
 * @param {{scaled: boolean, causal: boolean, temperature: number}} settings
 */
export function attentionScores(products, dK, { scaled, causal, temperature }) {
  const divisor = (scaled ? Math.sqrt(dK) : 1) * temperature;
  return products.map((row, query) =>
    row.map((product, key) => (causal && key > query ? -Infinity : product / divisor)));
}

/** Positive numbers that sum to 1. exp cannot overflow: the largest score goes off first. */
export function softmax(scores) {
  const largest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - largest));
  const total = sum(exponentials);
  return exponentials.map((exponential) => exponential / total);
}

/** Each key's weight times its value vector, and the sum of these: one query's output. */
export function weightedSum(weights, values) {
  const contributions = values.map((value, key) =>
    value.map((component) => weights[key] * component));
  const output = values[0].map((_, dimension) =>
    sum(contributions.map((contribution) => contribution[dimension])));
  return { contributions, output };
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
