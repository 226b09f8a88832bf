// The arithmetic of choosing a token on plain arrays: solutions/generation.py again.
// Compared with it in tests/visuals/test_token_sampler.py.

import { softmax } from "./attention-arithmetic.js";

const NEVER = -Infinity;

/** Bolder above 1, safer below; at 0 only the first of the best is left. */
export function withTemperature(logits, temperature) {
  if (temperature > 0) return logits.map((logit) => logit / temperature);
  const best = logits.indexOf(Math.max(...logits));
  return logits.map((_, token) => (token === best ? 0 : NEVER));
}

/** The places of the tokens, the likeliest first; of equals the one that stands first. */
function ranked(logits) {
  return logits.map((_, token) => token).sort((one, other) => logits[other] - logits[one] || one - other);
}

/** Exactly the k likeliest. */
export function topK(logits, k) {
  const kept = new Set(ranked(logits).slice(0, k));
  return logits.map((logit, token) => (kept.has(token) ? logit : NEVER));
}

/** The fewest tokens whose probabilities add up to at least p. */
export function topP(logits, p) {
  const shares = softmax(logits);
  const kept = new Set();
  let before = 0;
  for (const token of ranked(logits)) {
    if (before >= p - 1e-9) break;
    kept.add(token);
    before += shares[token];
  }
  return logits.map((logit, token) => (kept.has(token) ? logit : NEVER));
}

/** Temperature, then top-k, then top-p: the shares at that temperature, and those that are left. */
export function chances(logits, { temperature, k, p }) {
  const warm = withTemperature(logits, temperature);
  return { before: softmax(warm), after: softmax(topP(topK(warm, k), p)) };
}

/** The token on which a number between 0 and 1 falls, when the shares are laid side by side. */
export function drawn(shares, number) {
  let end = 0;
  let last = 0;
  for (const [token, share] of shares.entries()) {
    if (share === 0) continue;
    last = token;
    end += share;
    if (number < end) break;
  }
  return last;
}
