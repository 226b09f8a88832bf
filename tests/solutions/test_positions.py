"""Positions against their formulas, published tables and PyTorch's own functions."""

import math

import pytest
import torch
import torch.nn.functional as F

from exercises.checks import devices, numbers
from solutions import positions as pieces
from solutions.data import parsed_sentences

DTYPES = [torch.float32, torch.float64]


@pytest.mark.parametrize(("seq_len", "d_model"), [(7, 8), (5, 5), (1, 2), (3, 1)])
def test_sinusoids_equal_the_formula(seq_len, d_model):
    table = pieces.sinusoidal_positions(seq_len, d_model, base=100.0)
    for place in range(seq_len):
        for column in range(d_model):
            angle = place / 100.0 ** (2 * (column // 2) / d_model)
            wave = math.cos(angle) if column % 2 else math.sin(angle)
            assert math.isclose(table[place, column], wave, abs_tol=1e-5)


def test_sinusoids_depend_on_the_distance_only():
    table = pieces.sinusoidal_positions(300, 32)
    products = table @ table.T
    torch.testing.assert_close(products[1:, 1:], products[:-1, :-1], rtol=0, atol=1e-3)


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
def test_learned_positions_equal_an_embedding(dtype, device):
    layer = pieces.LearnedPositions(6, 4).to(device, dtype)
    x = numbers(2, 5, 4, dtype=dtype, device=device).requires_grad_(True)
    rows = torch.arange(5, device=device).expand(2, 5)
    output, expected = layer(x), x + F.embedding(rows, layer.table.weight)
    torch.testing.assert_close(output, expected)

    weight = layer.table.weight
    mine = torch.autograd.grad(output.square().sum(), [x, weight])
    theirs = torch.autograd.grad(expected.square().sum(), [x, weight])
    torch.testing.assert_close(mine, theirs)


def test_learned_positions_refuse_a_longer_sentence():
    layer = pieces.LearnedPositions(6, 4)
    assert layer(torch.zeros(1, 6, 4)).shape == (1, 6, 4)
    with pytest.raises(ValueError, match="7 tokens; expected at most 6"):
        layer(torch.zeros(1, 7, 4))


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
def test_shaw_scores_equal_the_pairs(dtype, device):
    shapes = (2, 3, 5, 4), (2, 3, 7, 4), (5, 4)
    inputs = [
        numbers(*shape, seed=seed, dtype=dtype, device=device).requires_grad_(True)
        for seed, shape in enumerate(shapes)
    ]
    queries, keys, table = inputs
    expected = torch.stack(
        [
            torch.stack(
                [
                    (queries[..., i, :] * (keys[..., j, :] + row)).sum(-1)
                    for j in range(7)
                    for row in [table[max(-2, min(2, j - i)) + 2]]
                ],
                dim=-1,
            )
            for i in range(5)
        ],
        dim=-2,
    )
    output = pieces.shaw_scores(*inputs)
    torch.testing.assert_close(output, expected)
    mine = torch.autograd.grad(output.square().sum(), inputs)
    theirs = torch.autograd.grad(expected.square().sum(), inputs)
    torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("both_ways", [True, False])
@pytest.mark.parametrize("sizes", [(32, 128), (8, 20)])
def test_buckets_equal_those_of_t5(sizes, both_ways):
    """As ``T5Attention`` of the transformers library sorts them."""
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    distances = torch.arange(-300, 301).reshape(-1, 1)
    expected = t5.T5Attention._relative_position_bucket(distances, both_ways, *sizes)
    found = pieces.t5_buckets(distances, *sizes, both_ways=both_ways)
    assert torch.equal(found, expected)


@pytest.mark.parametrize("device", devices())
def test_bias_depends_on_the_distance_and_can_be_learned(device):
    layer = pieces.RelativeBias(3, num_buckets=8, max_distance=16).to(device)
    bias = layer(5, 7)
    assert bias.shape == (3, 5, 7)
    assert torch.equal(bias[:, 1:, 1:], bias[:, :-1, :-1])
    assert torch.equal(bias[:, 2, 2], layer.table.weight[0])
    bias.sum().backward()
    assert layer.table.weight.grad.sum() == 3 * 5 * 7


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", [*DTYPES, torch.bfloat16])
def test_rotating_is_a_complex_product(dtype, device):
    x = numbers(2, 3, 5, 8, dtype=dtype, device=device)
    places = torch.tensor([0, 4, 4, 90, 7], device=device)
    speeds = 10000.0 ** (-torch.arange(4, device=device) / 4)
    turn = torch.exp(1j * places[:, None] * speeds)
    turned = torch.complex(x[..., :4].float(), x[..., 4:].float()) * turn
    expected = torch.cat([turned.real, turned.imag], dim=-1).to(dtype)
    near = {"rtol": 2e-2, "atol": 5e-2} if dtype == torch.bfloat16 else {}
    near = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.float64 else near
    torch.testing.assert_close(pieces.rotate(x, places), expected, **near)


def test_rotating_keeps_lengths_and_needs_pairs():
    x = numbers(4, 6).requires_grad_(True)
    turned = pieces.rotate(x, torch.tensor([3, 1, 8, 0]))
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    (slope,) = torch.autograd.grad(turned.square().sum(), x)
    torch.testing.assert_close(slope, 2 * x.detach())
    with pytest.raises(ValueError, match="d_head is 5"):
        pieces.rotate(torch.ones(2, 5), torch.arange(2))


def test_rotating_equals_llama():
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    queries, keys = numbers(2, 3, 5, 8, seed=1), numbers(2, 3, 5, 8, seed=2)
    places = torch.tensor([2, 3, 9, 0, 6])
    angles = places[:, None] * 10000.0 ** (-torch.arange(0, 8, 2) / 8)
    angles = torch.cat([angles, angles], dim=-1)[None]
    theirs = llama.apply_rotary_pos_emb(queries, keys, angles.cos(), angles.sin())
    ours = pieces.rotate(queries, places), pieces.rotate(keys, places)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("words", "heads"), parsed_sentences())
def test_tree_distances_are_shortest_paths(words, heads):
    size, depths = len(heads), pieces.tree_depths(heads)
    expected = torch.full((size, size), size).fill_diagonal_(0)
    for word, head in enumerate(heads):
        if head != -1:
            assert depths[word] == depths[head] + 1
            expected[word, head] = expected[head, word] = 1
    for stop in range(size):
        through = expected[:, stop, None] + expected[None, stop]
        expected = torch.minimum(expected, through)
    assert torch.equal(pieces.tree_distances(heads), expected)
    assert expected[heads.index(-1)].tolist() == depths


@pytest.mark.parametrize("heads", [[-1, 0, -1], [1, 0], [-1, 2, 1], [0]])
def test_what_is_no_tree_is_refused(heads):
    with pytest.raises(ValueError, match="expected"):
        pieces.tree_depths(heads)


def test_inputs_are_left_alone():
    queries, table = numbers(3, 4), numbers(5, 4, seed=1)
    places, distances, heads = torch.arange(3), torch.arange(-3, 3), [1, -1, 1]
    before = [t.clone() for t in (queries, table, places, distances)]
    pieces.shaw_scores(queries, queries, table)
    pieces.rotate(queries, places)
    pieces.t5_buckets(distances)
    pieces.LearnedPositions(3, 4)(queries[None])
    pieces.tree_distances(heads)
    assert all(map(torch.equal, before, (queries, table, places, distances)))
    assert heads == [1, -1, 1]
