// What follows from a card: the same counting as solutions/model_card.py. A card has the
// names of a ModelConfig; every count stays far below 2 ** 53, so it is exact.

const norm = (card) => card.d_model * (card.norm === "layer" ? 2 : 1);

const wide = (card) => ({
  queries: card.num_heads * card.d_head,
  keys: card.num_kv_heads * card.d_head,
});

function attention(card) {
  const { queries, keys } = wide(card);
  const biases = (card.qkv_bias ? queries + 2 * keys : 0) + (card.bias ? card.d_model : 0);
  return card.d_model * (2 * queries + 2 * keys) + biases;
}

function feedForward(card) {
  if (card.gated) return 3 * card.d_model * card.d_ff;
  return 2 * card.d_model * card.d_ff + (card.bias ? card.d_ff + card.d_model : 0);
}

function tables(card) {
  const rows = card.num_types + card.num_languages + (card.positions === "learned" ? card.max_len : 0);
  const inside = rows * card.d_model
    + (card.positions === "relative" ? card.num_buckets * card.num_heads : 0)
    + (card.embedding_norm ? norm(card) : 0);
  return card.vocab_size * card.d_model + (card.decoder_layers ? 2 : 1) * inside;
}

const heads = {
  tied: () => 0,
  tied_bias: (card) => card.vocab_size,
  untied: (card) => card.vocab_size * card.d_model,
  transformed: (card) => card.vocab_size + card.d_model * (card.d_model + 1) + norm(card),
};

/** The parameters of each part, and of all. */
export function parameters(card) {
  const [layers, cross] = [card.num_layers, card.decoder_layers];
  const ends = card.norm_first ? (cross ? 2 : 1) : 0;
  const parts = {
    embeddings: tables(card),
    attention: (layers + 2 * cross) * attention(card),
    "feed-forward": (layers + cross) * feedForward(card),
    norms: (2 * layers + 3 * cross + ends) * norm(card),
    head: heads[card.head](card),
  };
  return { ...parts, all: Object.values(parts).reduce((a, b) => a + b) };
}

/** The weights that one token is multiplied by. */
export function multipliedWeights(card) {
  const [layers, cross] = [card.num_layers, card.decoder_layers];
  const { queries, keys } = wide(card);
  const dense = card.head === "transformed" ? card.d_model : 0;
  return (layers + 2 * cross) * card.d_model * (2 * queries + 2 * keys)
    + (layers + cross) * (card.gated ? 3 : 2) * card.d_model * card.d_ff
    + card.d_model * (card.vocab_size + dense);
}

/** The operations for one token that sees `context` tokens. */
export function flopsPerToken(card, context) {
  const looks = (card.num_layers + 2 * card.decoder_layers) * 2 * wide(card).queries * context;
  return 2 * (multipliedWeights(card) + looks);
}

/** The bytes of keys and values of one text. */
export function cacheBytes(card, tokens, bytesEach = 2) {
  return 2 * (card.decoder_layers || card.num_layers) * wide(card).keys * tokens * bytesEach;
}

/** What does not go together in a card: the name of the fault, or "". */
export function fault(card, context) {
  const positive = ["vocab_size", "d_model", "num_layers", "num_heads", "num_kv_heads", "d_head", "d_ff"];
  const whole = (number, least) => Number.isInteger(number) && number >= least && number <= 1e6;
  if (!positive.every((name) => whole(card[name], 1))) return "number";
  if (!whole(card.decoder_layers, 0) || !whole(context, 0)) return "number";
  return card.num_heads % card.num_kv_heads ? "share" : "";
}
