"""Choosing tokens, and a cache that changes nothing but the time."""

import math

import pytest
import torch

from solutions import families
from solutions.checkpoints import load_weights
from solutions.generation import (
    Writer,
    beam_search,
    cache_bytes,
    cached_attention,
    generate,
    greedy,
    less_repetition,
    next_beams,
    pad_left,
    real_places,
    sample,
    text_score,
    top_k,
    top_p,
    with_temperature,
)
from solutions.models import Model
from solutions.multi_head import merge_heads, split_heads
from solutions.parity import SIZES, TWINS, reference

WRITERS = {
    "gpt2": families.gpt2(**SIZES | {"max_len": 64}),
    "gpt3": families.gpt3(**SIZES | {"max_len": 64, "windows": (0, 3)}),
    "ctrl": families.ctrl(**SIZES),
    "llama": families.llama(**SIZES),
    "grouped-query": families.llama(**SIZES | {"num_kv_heads": 2}),
    "multi-query": families.llama(**SIZES | {"num_kv_heads": 1}),
    "t5": families.t5(**SIZES | {"decoder_layers": 2, "num_buckets": 8}),
    "bart": families.bart(**SIZES | {"decoder_layers": 2, "max_len": 66}),
    "m2m100": families.m2m100(**SIZES | {"decoder_layers": 2}),
}
NO_END = {"end_id": -1}


def random_model(config):
    """Make a model in which every number is drawn at random."""
    torch.manual_seed(0)
    model = Model(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn_like(parameter))
    return model


@pytest.fixture(scope="module", params=WRITERS)
def model(request):
    torch.set_num_threads(1)
    return random_model(WRITERS[request.param])


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_the_cache_changes_nothing_at_any_chunk_size(model, chunk):
    tokens = torch.randint(7, 99, (2, 12), generator=torch.Generator().manual_seed(1))
    memory, real = None, torch.ones(2, 12, dtype=torch.bool)
    stack = model.stack
    if model.config.decoder_layers:
        memory, stack = model.states(tokens)[-1], model.decoder
    with torch.no_grad():
        whole = stack(tokens, memory=memory)[-1]
        cache, parts = model.new_cache(), []
        for start in range(0, 12, chunk):
            seen = real[:, : start + chunk]
            new = tokens[:, start : start + chunk]
            parts.append(stack(new, seen, memory=memory, cache=cache)[-1])
    assert (torch.cat(parts, dim=1) - whole).abs().max() < 1e-5


def test_writing_is_the_same_with_and_without_the_cache(model):
    tokens = torch.randint(7, 99, (2, 5), generator=torch.Generator().manual_seed(2))
    with_cache = generate(model, tokens, 8)
    assert torch.equal(with_cache, generate(model, tokens, 8, use_cache=False))


def test_filling_on_the_left_changes_nothing(model):
    tokens = torch.randint(7, 99, (1, 5), generator=torch.Generator().manual_seed(3))
    filling = torch.full((1, 3), model.config.pad_id)
    real = torch.tensor([[False] * 3 + [True] * 5])
    if model.config.positions == "learned" and model.config.decoder_layers:
        pytest.skip("BART counts the filling, as its paper's code does")
    alone = generate(model, tokens, 6)
    padded = generate(model, torch.cat([filling, tokens], dim=1), 6, real=real)
    assert torch.equal(alone, padded)


def test_the_memory_is_read_once(model):
    if not model.config.decoder_layers:
        pytest.skip("no memory")
    writer = Writer(model, torch.randint(7, 99, (1, 5)))
    with torch.no_grad():
        writer.append(greedy(writer.logits()))
        first = writer.cache["layers"][0][1]["keys"]
        writer.append(greedy(writer.logits()))
    assert writer.cache["layers"][0][1]["keys"] is first


def test_shared_heads_shrink_the_cache():
    sizes = {}
    for name in ("llama", "grouped-query", "multi-query"):
        model = random_model(WRITERS[name])
        writer = Writer(model, torch.randint(7, 99, (2, 10)))
        with torch.no_grad():
            writer.logits()
        sizes[name] = cache_bytes(writer.cache)
    # keys and values, layers, batch, tokens, d_model, bytes
    assert sizes["llama"] == 2 * 3 * 2 * 10 * 32 * 4
    assert sizes["llama"] == 2 * sizes["grouped-query"] == 4 * sizes["multi-query"]


@pytest.mark.parametrize("name", ["gpt2", "ctrl", "llama", "t5", "bart", "m2m100"])
def test_greedy_generation_is_the_reference_library_s(name):
    twin = TWINS[name]
    theirs, ours = reference(twin), Model(twin.ours).eval()
    load_weights(ours, theirs.state_dict(), twin.names)
    tokens = torch.randint(7, 99, (2, 6), generator=torch.Generator().manual_seed(4))
    config = theirs.generation_config
    config.pad_token_id, config.eos_token_id = twin.ours.pad_id, twin.ours.end_id
    config.forced_eos_token_id = config.forced_bos_token_id = None
    if twin.ours.decoder_layers:
        config.decoder_start_token_id = twin.ours.begin_id
    real = torch.ones_like(tokens)
    written = theirs.generate(
        tokens, attention_mask=real, max_new_tokens=10, do_sample=False, num_beams=1
    )
    start = 1 if twin.ours.decoder_layers else tokens.shape[1]
    expected = written[:, start:]
    assert torch.equal(generate(ours, tokens, 10), expected)


# --- choosing -----------------------------------------------------------------------

SHARES = torch.tensor([[0.1, 0.4, 0.2, 0.3]])


def kept(logits):
    return torch.isfinite(logits)[0].nonzero().flatten().tolist()


@pytest.mark.parametrize(
    ("p", "expected"),
    [(1e-8, [1]), (0.4, [1]), (0.41, [1, 3]), (0.7, [1, 3]), (0.71, [1, 2, 3]),
     (0.9, [1, 2, 3]), (1.0, [0, 1, 2, 3])],
)  # fmt: skip
def test_top_p_is_the_smallest_set_that_reaches_p(p, expected):
    assert kept(top_p(SHARES.log(), p)) == expected


def test_top_k_keeps_exactly_k():
    assert kept(top_k(SHARES.log(), 1)) == [1]
    assert len(kept(top_k(torch.zeros(1, 5), 2))) == 2
    assert kept(top_k(SHARES.log(), 9)) == [0, 1, 2, 3]


def test_temperature_and_its_ends():
    logits = SHARES.log()
    assert kept(with_temperature(logits, 0)) == [1]
    hot = torch.softmax(with_temperature(logits, 1e6), dim=-1)
    assert torch.allclose(hot, torch.full((1, 4), 0.25), atol=1e-4)
    assert torch.allclose(with_temperature(logits, 2.0), logits / 2)


def test_a_penalty_lowers_positive_and_negative_scores():
    logits = torch.tensor([[2.0, -2.0, 1.0]])
    lower = less_repetition(logits, torch.tensor([[0, 1, 1]]), 2.0)
    assert lower.tolist() == [[1.0, -4.0, 1.0]]
    assert logits.tolist() == [[2.0, -2.0, 1.0]]


@pytest.mark.parametrize(
    ("function", "value"),
    [(top_k, 0), (top_p, 0.0), (top_p, 1.1), (with_temperature, -1)],
)
def test_what_makes_no_sense_is_refused(function, value):
    with pytest.raises(ValueError, match="expected"):
        function(SHARES, value)


def test_samples_follow_the_probabilities():
    generator = torch.Generator().manual_seed(0)
    drawn = sample(SHARES.log().expand(4000, 4), generator)
    shares = torch.bincount(drawn, minlength=4) / 4000
    assert (shares - SHARES[0]).abs().max() < 0.03


def test_filling_stands_in_front_and_is_not_counted():
    tokens, real = pad_left([[5, 3, 8], [7]], 7)
    assert tokens.tolist() == [[5, 3, 8], [7, 7, 7]]
    assert real.tolist() == [[True] * 3, [False, False, True]]
    assert real_places(real).tolist() == [[0, 1, 2], [0, 0, 0]]


def test_a_batch_is_written_as_each_text_alone():
    model = random_model(WRITERS["gpt2"])
    texts = [[9, 8, 7, 11, 12], [20], [31, 32, 33]]
    tokens, real = pad_left(texts, 0)
    together = generate(model, tokens, 6, real=real)
    alone = [generate(model, torch.tensor([text]), 6)[0] for text in texts]
    assert together.tolist() == [text.tolist() for text in alone]


def test_what_was_written_may_be_learned_from():
    model = random_model(WRITERS["gpt2"])
    written = generate(model, torch.tensor([[7, 8, 9]]), 4)
    assert not written.is_inference()
    model(written).sum().backward()


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("with_bias", [False, True])
def test_attention_in_pieces_is_attention_at_once(kv_heads, with_bias):
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(shape, generator=generator)
    whole = [draw(2, heads, 7, 6) for heads in (4, kv_heads, kv_heads)]
    bias = draw(4, 7, 7) if with_bias else None
    expected, kept = cached_attention(*whole, bias=bias)
    assert kept[0].shape == (2, kv_heads, 7, 6)
    for sizes in ([1] * 7, [3, 3, 1], [2, 5]):
        found, past, end = [], None, 0
        for size in sizes:
            part = [t[:, :, end : end + size] for t in whole]
            end += size
            own = None if bias is None else bias[:, :end, :end]
            some, past = cached_attention(*part, past, own)
            found.append(some)
        torch.testing.assert_close(torch.cat(found, dim=2), expected)


def test_attention_in_pieces_is_that_of_the_models():
    model = random_model(WRITERS["grouped-query"])
    layer, x = model.stack.blocks[0].attention.sublayer, torch.randn(2, 5, 32)
    spots, behind = torch.arange(5)[None], torch.ones(5, 5).tril().bool()
    bias = torch.zeros(5, 5).masked_fill(~behind, -torch.inf)
    expected = layer(x, bias=bias, positions=spots)
    heads = [split_heads(W(x), n) for W, n in (
        (layer.W_q, 4), (layer.W_k, 2), (layer.W_v, 2))]  # fmt: skip
    found = layer.W_o(merge_heads(cached_attention(*heads)[0]))
    torch.testing.assert_close(found, expected)


def test_the_best_ways_to_go_on_are_found_among_all_beams():
    scores = torch.tensor([0.6, 0.3]).log()
    logits = torch.tensor([[0.4, 0.35, 0.25], [0.06, 0.04, 0.9]]).log()
    best, rows, chosen = next_beams(scores, logits, 3)
    torch.testing.assert_close(best.exp(), torch.tensor([0.27, 0.24, 0.21]))
    assert (rows.tolist(), chosen.tolist()) == ([1, 0, 0], [2, 0, 1])
    assert text_score(-8.0, 4, 0.5) == -4.0


class Tree:
    """A model of three tokens (and an end) whose probabilities are written down."""

    def __init__(self, table):
        self.table = table
        self.config = type(
            "Config", (), {"decoder_layers": 0, "end_id": 3, "pad_id": 0}
        )

    def new_cache(self):
        return {"length": 0, "layers": []}

    def states(self, tokens, real, cache=None, places=None):
        self.seen = tokens
        return [torch.zeros(len(tokens), 1, 1)]

    def head(self, x):
        rows = [self.table[tuple(row[1:].tolist())] for row in self.seen]
        return torch.tensor(rows).log()


def test_beams_find_what_greedy_misses():
    table = {
        (): [0.5, 0.4, 0.05, 0.05],
        (0,): [0.3, 0.3, 0.2, 0.2],
        (1,): [0.02, 0.02, 0.06, 0.9],
        (0, 0): [0.0, 0.0, 0.0, 1.0],
        (0, 1): [0.0, 0.0, 0.0, 1.0],
        (1, 2): [0.0, 0.0, 0.0, 1.0],
        (0, 2): [0.0, 0.0, 0.0, 1.0],
    }
    tree = Tree(table)
    tree.new_cache = lambda: None  # it is asked about whole texts
    found = beam_search(tree, torch.tensor([[0]]), 3, num_beams=2, length_penalty=0.0)
    assert found.tolist() == [1, 3]  # 0.4 x 0.9, where greedy begins with 0.5
    wider = beam_search(tree, torch.tensor([[0]]), 3, num_beams=2, length_penalty=5.0)
    assert len(wider) == 3  # a large penalty makes long texts cheap


def test_one_beam_is_greedy():
    model = random_model(WRITERS["gpt2"])
    tokens = torch.randint(7, 99, (1, 4), generator=torch.Generator().manual_seed(5))
    found = beam_search(model, tokens, 6, num_beams=1)
    assert torch.equal(found, generate(model, tokens, 6)[0][: len(found)])
    assert math.isfinite(cache_bytes(model.new_cache()))
