"""Real weights, and folders written by the reference library, load without a rest."""

import json

import pytest
import torch

from solutions import data
from solutions.encoders import sentence_vectors
from solutions.parity import TWINS, reference
from solutions.pretrained import KINDS, load_model, read_card
from solutions.tokens import WordPiece

SAVED = [
    "bert", "roberta", "distilbert", "gpt2", "t5", "t5-v1.1", "bart", "m2m100",
    "llama", "bigbird",
]  # fmt: skip


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_folder_loads(name, tmp_path):
    theirs = reference(TWINS[name])
    theirs.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] in KINDS
    ours = load_model(tmp_path)
    tokens = torch.randint(7, 99, (1, 9), generator=torch.Generator().manual_seed(0))
    more = {"decoder_input_ids": tokens} if ours.config.decoder_layers else {}
    target = tokens if more else None
    with torch.no_grad():
        gap = ours(tokens, target) - theirs(tokens, **more).logits
    assert gap.abs().max() < 1e-5


def test_what_does_not_fit_is_named(tmp_path):
    reference(TWINS["gpt2"]).save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(settings | {"n_layer": 4}))
    with pytest.raises(ValueError, match=r"missing: stack\.blocks\.3"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(settings | {"vocab_size": 98}))
    with pytest.raises(ValueError, match=r"tokens\.weight is \(99, 32\)"):
        load_model(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "model.bin")
    with pytest.raises(ValueError, match=r"no \.safetensors"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    with pytest.raises(ValueError, match="mamba"):
        read_card(tmp_path)


def test_a_real_bert_finds_sentences_by_meaning():
    folder = data.minilm_folder()
    model = load_model(folder)
    pieces = data.wordpiece_vocabulary()
    assert len(pieces) == model.config.vocab_size == 30522
    tokenizer = WordPiece(pieces)
    sentences = [
        "A man is eating food.",
        "A man eats a piece of bread.",
        "The weather is cold today.",
    ]
    rows = [tokenizer.encode(sentence) for sentence in sentences]
    longest = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    real = tokens != 0
    with torch.no_grad():
        vectors = sentence_vectors(model.states(tokens, real)[-1], real)
    near = vectors @ vectors.T
    assert near[0, 1] > 0.7 and near[0, 2] < 0.3
    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertModel.from_pretrained(folder).eval()
    with torch.no_grad():
        expected = theirs(tokens, attention_mask=real.long()).last_hidden_state
    gap = (model.states(tokens, real)[-1] - expected)[real].abs().max()
    assert gap < 1e-5
