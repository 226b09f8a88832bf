"""What models learn from: each objective against its definition."""

import pytest
import torch

from solutions import families
from solutions.decoders import (
    alternating_windows,
    calm_start,
    few_shot_prompt,
    last_real,
    with_control_code,
)
from solutions.denoising import (
    delete_some,
    draw_infilling,
    draw_spans,
    infill,
    mask_some,
    permute_sentences,
    rotate_document,
    shift_right,
    span_corruption,
    with_languages,
)
from solutions.encoders import (
    choose_tokens,
    direction_loss,
    every_second_layer,
    first_vector,
    imitation_loss,
    mask_tokens,
    masked_loss,
    masks_over_time,
    pack_pair,
    positions_after_filling,
    sentence_pairs,
    sentence_vectors,
    translation_pair,
)
from solutions.models import Model, SentenceHead

SIZES = {"vocab_size": 40, "d_model": 8, "num_heads": 2, "d_ff": 16}


def numbers_from(seed):
    return torch.Generator().manual_seed(seed)


def test_eighty_ten_ten():
    tokens = torch.full((200, 50), 7)
    tokens[:, 0], tokens[:, -1] = 1, 0
    special = torch.tensor([0, 1])
    chosen = choose_tokens(tokens, special, 0.15, numbers_from(0))
    assert not chosen[:, [0, -1]].any()
    assert abs(chosen[:, 1:-1].float().mean() - 0.15) < 0.01
    spoilt = mask_tokens(tokens, chosen, 3, 1000, numbers_from(1))
    assert torch.equal(spoilt[~chosen], tokens[~chosen])
    hidden = spoilt[chosen]
    assert abs((hidden == 3).float().mean() - 0.8) < 0.03
    assert abs((hidden == 7).float().mean() - 0.1) < 0.02


def test_only_the_chosen_places_count():
    logits = torch.randn(2, 5, 9, generator=numbers_from(2))
    tokens = torch.randint(9, (2, 5), generator=numbers_from(3))
    chosen = torch.zeros(2, 5, dtype=torch.bool)
    chosen[0, 1] = chosen[1, 4] = True
    expected = [
        -torch.log_softmax(logits[i, j], -1)[tokens[i, j]] for i, j in [(0, 1), (1, 4)]
    ]
    assert torch.allclose(
        masked_loss(logits, tokens, chosen), sum(expected) / 2, atol=1e-6
    )


def test_pairs_follow_or_are_strangers():
    documents = [[f"{d}{i}" for i in range(40)] for d in "abc"]
    pairs = sentence_pairs(documents, numbers_from(4))
    assert len(pairs) == 3 * 39
    share = sum(follows for *_, follows in pairs) / len(pairs)
    assert 0.35 < share < 0.65
    for first, second, follows in pairs:
        near = second[0] == first[0] and int(second[1:]) == int(first[1:]) + 1
        assert follows == near
    assert pack_pair([5, 6], [7], 1, 2) == ([1, 5, 6, 2, 7, 2], [0, 0, 0, 0, 1, 1])


def test_a_student_imitates_softened_probabilities():
    student = torch.randn(3, 4, 7, generator=numbers_from(5), requires_grad=True)
    teacher = torch.randn(3, 4, 7, generator=numbers_from(6), requires_grad=True)
    loss = imitation_loss(student, teacher, 2.0)
    p, q = (torch.softmax(t / 2, dim=-1) for t in (teacher, student))
    by_hand = (p * (p / q).log()).sum(-1).mean() * 4
    assert torch.allclose(loss, by_hand, atol=1e-6)
    loss.backward()
    assert teacher.grad is None and student.grad.any()
    assert imitation_loss(teacher, teacher, 3.0).abs() < 1e-6
    turned = torch.tensor([[0.0, 2.0]])
    assert torch.allclose(
        direction_loss(turned, torch.tensor([[3.0, 0.0]])), torch.tensor(1.0)
    )


def test_a_student_begins_with_every_second_layer():
    teacher = Model(families.distilbert(**SIZES, num_layers=4, max_len=16))
    student = Model(families.distilbert(**SIZES, num_layers=2, max_len=16))
    student.load_state_dict(every_second_layer(teacher.state_dict()))
    assert torch.equal(student.tokens.weight, teacher.tokens.weight)
    for mine, theirs in ((0, 0), (1, 2)):
        pairs = zip(
            student.stack.blocks[mine].parameters(),
            teacher.stack.blocks[theirs].parameters(),
            strict=True,
        )
        assert all(torch.equal(a, b) for a, b in pairs)
    given = every_second_layer(teacher.state_dict())
    given["tokens.weight"].zero_()
    assert teacher.tokens.weight.any()
    odd = {f"stack.blocks.{i}.W": torch.ones(1) for i in range(3)}
    with pytest.raises(ValueError, match="even number"):
        every_second_layer(odd)


def test_one_vector_for_a_whole_input():
    x = torch.randn(2, 3, 5, generator=numbers_from(10))
    head = SentenceHead(5, 4)
    pooled = first_vector(x, head.dense.weight.T, head.dense.bias)
    assert torch.allclose(head.output(pooled), head(x), atol=1e-6)


def test_masks_that_stay_and_masks_that_change():
    tokens = torch.full((30, 20), 7)
    args = tokens, torch.tensor([0]), 0.15
    masks = masks_over_time(*args, 6, 2, numbers_from(11))
    assert masks.shape == (6, 30, 20)
    assert torch.equal(masks[0], masks[2]) and torch.equal(masks[1], masks[5])
    assert not torch.equal(masks[0], masks[1])
    dynamic = masks_over_time(*args, 10, 10, numbers_from(12))
    assert len(torch.unique(dynamic, dim=0)) == 10
    assert 0.7 < dynamic.any(0).float().mean() < 0.9


def test_positions_that_begin_after_the_filling():
    tokens = torch.tensor([[0, 5, 6, 2, 1, 1], [1, 1, 0, 5, 5, 2]])
    found = positions_after_filling(tokens, 1)
    assert found.tolist() == [[2, 3, 4, 5, 1, 1], [1, 1, 2, 3, 4, 5]]
    stack = Model(families.roberta(**SIZES, num_layers=1, max_len=16)).stack
    assert torch.equal(found, stack.places(tokens, tokens != 1, 0))


def test_translations_side_by_side():
    tokens, places, spoken = translation_pair([5, 6], [7], (0, 1), end_id=1)
    assert tokens == [1, 5, 6, 1, 1, 7, 1]
    assert places == [0, 1, 2, 3, 0, 1, 2]
    assert spoken == [0, 0, 0, 0, 1, 1, 1]


def test_sentence_vectors_leave_filling_out():
    x = torch.randn(2, 4, 6, generator=numbers_from(7))
    real = torch.tensor([[True] * 4, [True, True, False, False]])
    vectors = sentence_vectors(x, real)
    assert torch.allclose(vectors.norm(dim=-1), torch.ones(2), atol=1e-6)
    changed = x.clone()
    changed[1, 2:] = 99
    assert torch.equal(vectors, sentence_vectors(changed, real))


def test_a_calm_start():
    config = families.gpt2(
        vocab_size=500, d_model=64, num_heads=2, d_ff=256, num_layers=8
    )
    model = Model(config)
    calm_start(model, numbers_from(8))
    block = model.stack.blocks[3]
    assert abs(block.attention.sublayer.W_q.weight.std() - 0.02) < 0.001
    for writer in (block.attention.sublayer.W_o, block.feed_forward.sublayer.W_2):
        assert abs(writer.weight.std() - 0.02 / 4) < 0.0005
    assert not block.feed_forward.sublayer.W_1.bias.any()


def test_small_pieces_of_the_decoders():
    assert alternating_windows(5, 3) == (0, 3, 0, 3, 0)
    coded = with_control_code(torch.tensor([[5, 6]]), torch.tensor([9]))
    assert coded.tolist() == [[9, 5, 6]]
    prompt = few_shot_prompt([("2", "two"), ("3", "three")], "4")
    assert prompt == "2 => two\n3 => three\n4 =>"
    x = torch.arange(12.0).view(2, 3, 2)
    real = torch.tensor([[True, True, False], [False, True, True]])
    assert last_real(x, real).tolist() == [[2.0, 3.0], [10.0, 11.0]]


@pytest.mark.parametrize("length", [4, 17, 60])
def test_spans_are_apart_and_hide_their_share(length):
    for seed in range(20):
        spans = draw_spans(length, 0.3, 3.0, numbers_from(seed))
        assert sum(size for _, size in spans) == max(1, round(0.3 * length))
        ends = [0]
        for start, size in spans:
            assert size >= 1 and start > ends[-1] - (len(ends) == 1)
            ends.append(start + size)
        assert ends[-1] <= length


def test_spans_can_be_put_back():
    tokens = list(range(10, 40))
    spans = draw_spans(30, 0.3, 3.0, numbers_from(9))
    inputs, targets = span_corruption(tokens, spans, list(range(100, 120)))
    parts, name = {}, None
    for token in targets:
        name = token if token >= 100 else name
        parts.setdefault(name, [])
        parts[name] += [token] if token < 100 else []
    restored = [
        t for token in inputs for t in (parts[token] if token >= 100 else [token])
    ]
    assert restored == tokens
    with pytest.raises(ValueError, match="sentinels"):
        span_corruption(tokens, spans, [100])


def test_five_ways_to_spoil_a_text():
    tokens, chosen = [5, 6, 7, 8], [False, True, False, True]
    assert mask_some(tokens, chosen, 0) == [5, 0, 7, 0]
    assert delete_some(tokens, chosen) == [5, 7]
    assert infill(tokens, [(1, 2)], 0) == [5, 0, 8]
    assert infill(tokens, [(1, 0)], 0) == [5, 0, 6, 7, 8]
    assert permute_sentences([[5], [6, 7], [8]], [2, 0, 1]) == [8, 5, 6, 7]
    assert rotate_document(tokens, 3) == [8, 5, 6, 7]


def test_infilling_is_drawn_in_order_and_hides_about_its_share():
    hidden = []
    for seed in range(40):
        spans = draw_infilling(60, 0.3, 3.0, numbers_from(seed))
        places = [p for start, size in spans for p in range(start, start + size)]
        assert len(places) == len(set(places)) and spans == sorted(spans)
        hidden.append(len(places) / 60)
    assert 0.2 < sum(hidden) / 40 <= 0.31


def test_what_a_decoder_is_given():
    targets = torch.tensor([[5, 6, 2, -100, -100]])
    assert shift_right(targets, 2, 1).tolist() == [[2, 5, 6, 2, 1]]
    assert with_languages([5], [6, 7], 90, 91, 2) == ([90, 5, 2], [91, 6, 7, 2])
