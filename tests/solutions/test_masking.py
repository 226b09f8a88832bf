"""The reference for masks against PyTorch's own attention, forward and backward."""

import pytest
import torch
import torch.nn.functional as F

from exercises.checks import devices, numbers
from solutions import masking as pieces

DTYPES = [torch.float32, torch.float64]


def inputs(dtype=torch.float32, device="cpu"):
    """Make queries, keys and values in which every axis has a size of its own."""
    shapes = (2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)
    return [
        numbers(*shape, seed=seed, dtype=dtype, device=device).requires_grad_(True)
        for seed, shape in enumerate(shapes)
    ]


def masks(device="cpu"):
    """Make masks of several shapes; in the last one a row sees nothing."""
    random = numbers(2, 1, 5, 7, seed=9) > 0
    random[0, 0, 2] = False
    tokens = torch.tensor([[4, 4, 4, 4, 4, 0, 0], [4, 4, 0, 0, 0, 0, 0]])
    found = [pieces.causal_mask(5, 7), pieces.padding_mask(tokens, 0), random]
    return [mask.to(device) for mask in found]


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("which", range(3))
def test_masked_attention_equals_the_fused_kernel(which, dtype, device):
    ours, theirs = inputs(dtype, device), inputs(dtype, device)
    mask = masks(device)[which]
    output = pieces.masked_attention(*ours, mask)
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=mask)
    torch.testing.assert_close(output, expected)

    output.square().sum().backward()
    expected.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


def test_without_a_mask_everything_is_seen():
    queries, keys, values = inputs()
    expected = F.scaled_dot_product_attention(queries, keys, values)
    torch.testing.assert_close(pieces.masked_attention(queries, keys, values), expected)


def test_the_multihead_layer_of_pytorch_hides_where_its_mask_is_true():
    x = numbers(2, 5, 8)
    layer = torch.nn.MultiheadAttention(8, 1, bias=False, batch_first=True)
    mask = pieces.causal_mask(5)
    expected, weights = layer(x, x, x, attn_mask=~mask)
    queries, keys, values = (x @ w.T for w in layer.in_proj_weight.chunk(3))
    found = pieces.masked_attention(queries, keys, values, mask)
    torch.testing.assert_close(layer.out_proj(found), expected)
    scores = queries @ keys.mT / 8**0.5
    torch.testing.assert_close(pieces.masked_softmax(scores, mask), weights)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16, torch.bfloat16])
def test_what_is_hidden_has_no_weight_at_all(dtype):
    scores = torch.tensor([[-1e4, -1e4, 1e4]], dtype=dtype)
    weights = pieces.masked_softmax(scores, torch.tensor([True, True, False]))
    assert weights.tolist() == [[0.5, 0.5, 0.0]]
    assert weights.dtype == dtype


def test_a_row_that_sees_nothing_is_zero_and_its_gradient_finite():
    scores = numbers(3, 4).requires_grad_(True)
    mask = torch.tensor([[True] * 4, [False] * 4, [True, False, True, False]])
    weights = pieces.masked_softmax(scores, mask)
    assert weights[1].tolist() == [0.0] * 4
    weights.square().sum().backward()
    assert scores.grad[1].tolist() == [0.0] * 4
    assert scores.grad.isfinite().all()


def test_causal_mask_equals_the_one_of_the_kernel():
    queries, keys, values = (numbers(2, 5, 4, seed=seed) for seed in range(3))
    expected = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    found = pieces.masked_attention(queries, keys, values, pieces.causal_mask(5))
    torch.testing.assert_close(found, expected)


def test_fewer_queries_are_the_last_tokens():
    assert torch.equal(pieces.causal_mask(2, 5), pieces.causal_mask(5)[-2:])


def test_masks_are_combined_with_and():
    every = torch.tensor([[True, True], [True, False]])
    row = torch.tensor([False, True])
    assert torch.equal(pieces.combine_masks(every, None, row), every & row)
    assert pieces.combine_masks(None, None) is None
    assert pieces.combine_masks() is None


def test_sparse_patterns_against_the_definitions_of_the_papers():
    seq, stride, summary = 13, 4, 2
    pairs = {(i, j) for i in range(seq) for j in range(i + 1)}
    window = {(i, j) for i, j in pairs if i - j < stride}
    strided = {(i, j) for i, j in pairs if i - j <= stride or (i - j) % stride == 0}
    fixed = {
        (i, j)
        for i, j in pairs
        if i // stride == j // stride or j % stride >= stride - summary
    }
    assert allowed(pieces.sliding_window_mask(seq, stride)) == window
    assert allowed(pieces.strided_mask(seq, stride)) == strided
    assert allowed(pieces.fixed_mask(seq, stride, summary)) == fixed


def allowed(mask):
    """List the pairs of a mask that are true."""
    return {(int(i), int(j)) for i, j in mask.nonzero()}


def test_bigbird_blocks_see_neighbours_ends_and_a_few_more():
    generator = torch.Generator().manual_seed(3)
    mask = pieces.bigbird_mask(9, 2, 2, generator)
    again = pieces.bigbird_mask(9, 2, 2, torch.Generator().manual_seed(3))
    assert torch.equal(mask, again)
    blocks = mask[::2, ::2]
    assert torch.equal(mask, blocks.repeat_interleave(2, 0).repeat_interleave(2, 1))
    assert blocks[[0, -1]].all() and blocks[:, [0, -1]].all()
    assert blocks.sum(dim=1).tolist() == [9, 6, *[7] * 5, 6, 9]
    assert pieces.bigbird_mask(4, 1, 50, generator).all()


@pytest.mark.parametrize("window", [1, 3, 20])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sliding_window_attention_equals_the_dense_one(window, dtype):
    shapes = (2, 3, 11, 4), (2, 3, 11, 4), (2, 3, 11, 6)
    ours, theirs = (
        [
            numbers(*s, seed=i, dtype=dtype).requires_grad_()
            for i, s in enumerate(shapes)
        ]
        for _ in range(2)
    )
    output = pieces.sliding_window_attention(*ours, window)
    mask = pieces.sliding_window_mask(11, window)
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=mask)
    torch.testing.assert_close(output, expected)
    output.square().sum().backward()
    expected.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


def test_inputs_are_left_alone():
    tensors = [t.detach() for t in inputs()] + [masks()[2]]
    copies = [t.clone() for t in tensors]
    pieces.masked_attention(*tensors)
    pieces.combine_masks(tensors[3], masks()[1])
    assert all(map(torch.equal, tensors, copies))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_sliding_window_attention_on_the_gpu_equals_the_cpu():
    inputs_ = [numbers(2, 11, 4, seed=seed) for seed in range(3)]
    expected = pieces.sliding_window_attention(*inputs_, 3)
    found = pieces.sliding_window_attention(*(t.cuda() for t in inputs_), 3)
    torch.testing.assert_close(found.cpu(), expected)
