"""Tokens in, probabilities out: from text to ids, and from vectors to a loss.

Chapter 10. Byte-level BPE can write any text; WordPiece is what BERT reads. The head
turns a vector into a probability for every token.
"""

import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import regex
import torch.nn.functional as F
from torch import Tensor, nn

Pair = tuple[bytes, bytes]

#: Where GPT-2 cuts a text before it merges, into endings, words, numbers, signs and
#: spaces.
CUTS = regex.compile(
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
)


#: Where Chinese characters stand in Unicode, as BERT's code counts them.
CHINESE = ("\u3400\u4dbf", "\u4e00\u9fff", "\uf900\ufaff", "\U00020000\U0002ceaf")


def byte_characters() -> dict[int, str]:
    """Give every byte a character that can be seen, as GPT-2's files write it.

    Printable bytes stand for themselves, the others for characters from 256 on. In
    the order of these characters the bytes are tokens 0 to 255.
    Source: Radford et al. (2019), in their published code.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    seen = {byte: chr(byte) for byte in printable}
    return seen | {byte: chr(256 + n) for n, byte in enumerate(others)}


def count_pairs(words: dict[tuple[bytes, ...], int]) -> Counter[Pair]:
    """Count how often every two symbols stand side by side.

    ``words`` maps a word, as a tuple of symbols, to how often it occurs.
    Source: Sennrich et al. (2016), algorithm 1.
    """
    pairs: Counter[Pair] = Counter()
    for symbols, times in words.items():
        for pair in itertools.pairwise(symbols):
            pairs[pair] += times
    return pairs


def merge_pair(symbols: tuple[bytes, ...], pair: Pair) -> tuple[bytes, ...]:
    """Join the two symbols of a pair wherever they stand side by side, from the left.

    Source: Sennrich et al. (2016), algorithm 1.
    """
    merged, place = [], 0
    while place < len(symbols):
        if symbols[place : place + 2] == pair:
            merged.append(pair[0] + pair[1])
            place += 2
        else:
            merged.append(symbols[place])
            place += 1
    return tuple(merged)


def split_bytes(word: str) -> tuple[bytes, ...]:
    """Write a word as its UTF-8 bytes, one symbol each."""
    return tuple(bytes([byte]) for byte in word.encode())


def train_bpe(texts: Iterable[str], num_merges: int) -> list[Pair]:
    """Learn which symbols to join: again and again the most frequent pair.

    Of equally frequent pairs the one with the earlier tokens counts. Ends early when
    no pair is left.
    Source: Sennrich et al. (2016), section 3.2; on bytes, Radford et al. (2019).
    """
    counts = Counter(word for text in texts for word in CUTS.findall(text))
    words = {split_bytes(word): times for word, times in counts.items()}
    pairs = Counter(count_pairs(words))
    ids = {token: i for i, token in enumerate(byte_tokens())}
    merges: list[Pair] = []
    while len(merges) < num_merges and any(pairs.values()):
        best = max(pairs, key=lambda p: (pairs[p], -ids[p[0]], -ids[p[1]]))
        merges.append(best)
        ids.setdefault(best[0] + best[1], len(ids))
        # only the words that hold the pair change, and only their pairs
        old = {w: n for w, n in words.items() if best in itertools.pairwise(w)}
        new = {merge_pair(word, best): times for word, times in old.items()}
        words = {w: n for w, n in words.items() if w not in old} | new
        pairs.subtract(count_pairs(old))
        pairs.update(count_pairs(new))
    return merges


def byte_tokens() -> list[bytes]:
    """List the first 256 tokens, one byte each, in GPT-2's order."""
    characters = byte_characters()
    return [bytes([byte]) for byte in sorted(characters, key=characters.get)]


class ByteBPE:
    """Cut any text into tokens, and put it together again without a loss.

    ``merges`` are learned pairs, the earliest first. Token ids: 256 bytes, then the
    joined tokens in the order of the merges.
    Source: Radford et al. (2019), section 2.2.
    """

    def __init__(self, merges: list[Pair]):
        """Number the tokens, and remember which merge comes first."""
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        joined = [first + second for first, second in merges]
        self.vocab = list(dict.fromkeys(byte_tokens() + joined))  # each token once
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text: str) -> list[int]:
        """Turn a text into token ids."""
        return [
            self.ids[symbol]
            for word in CUTS.findall(text)
            for symbol in self._merged(split_bytes(word))
        ]

    def decode(self, ids: Iterable[int]) -> str:
        """Turn token ids back into text; bytes that are no UTF-8 become a sign."""
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")

    def _merged(self, symbols: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """Join pairs in the order in which they were learned."""
        while len(symbols) > 1:
            pairs = itertools.pairwise(symbols)
            first = min(pairs, key=lambda pair: self.ranks.get(pair, math.inf))
            if first not in self.ranks:
                break
            symbols = merge_pair(symbols, first)
        return symbols


def read_merges(path: Path) -> list[Pair]:
    """Read a file of merges as GPT-2's ``vocab.bpe`` is written: one pair a line.

    Raises ValueError with the line that does not hold two tokens.
    """
    byte_of = {character: byte for byte, character in byte_characters().items()}
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    merges = []
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#version"):
            parts = line.split(" ")
            if len(parts) != 2:
                raise ValueError(f"{path}, line {number}: expected two tokens: {line}")
            merges.append(tuple(bytes(byte_of[c] for c in part) for part in parts))
    return merges


def plain_words(text: str) -> list[str]:
    """Cut a text into words and signs, in small letters and without accents.

    Chinese characters stand alone; control characters are dropped.
    Source: Devlin et al. (2019), in their published code, the uncased models.
    """
    spaced = []
    for character in unicodedata.normalize("NFD", text.lower()):
        if unicodedata.category(character) == "Mn" or _is_control(character):
            continue
        if character.isspace():
            spaced.append(" ")
        elif _stands_alone(character):
            spaced.append(f" {character} ")
        else:
            spaced.append(character)
    return "".join(spaced).split()


def _is_control(character: str) -> bool:
    if character in "\t\n\r":
        return False
    return character == "\ufffd" or unicodedata.category(character).startswith("C")


def _stands_alone(character: str) -> bool:
    """Tell whether a character is a sign or a Chinese one."""
    if any(first <= character <= last for first, last in CHINESE):
        return True
    is_sign = character.isascii() and character.isprintable() and character != " "
    is_sign = is_sign and not character.isalnum()
    return is_sign or unicodedata.category(character).startswith("P")


def word_pieces(word: str, vocab: dict[str, int], unknown: str = "[UNK]") -> list[str]:
    """Cut a word into the longest pieces of a vocabulary, from left to right.

    Pieces inside a word begin with "##". A word of which some part is in no piece, or
    of more than 100 characters, is ``unknown`` as a whole.
    Source: Wu et al. (2016), section 4.1; the greedy search of Devlin et al. (2019).
    """
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        fits = (end for end in ends if prefix + word[start:end] in vocab)
        end = next(fits, None)
        if end is None or len(word) > 100:
            return [unknown]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


class WordPiece:
    """Cut a text into pieces of a fixed vocabulary, as BERT does.

    ``vocab`` lists the pieces in the order of their ids.
    Source: Devlin et al. (2019), section 3.
    """

    def __init__(self, vocab: list[str]):
        """Number the pieces."""
        self.vocab = vocab
        self.ids = {piece: i for i, piece in enumerate(vocab)}

    def encode(self, text: str) -> list[int]:
        """Turn a text into ids, between [CLS] and [SEP]."""
        pieces = [
            piece for word in plain_words(text) for piece in word_pieces(word, self.ids)
        ]
        return [self.ids[piece] for piece in ("[CLS]", *pieces, "[SEP]")]


class LanguageModelHead(nn.Module):
    """Turn every vector into a score for each token, with the embedding's own matrix.

    Shapes: x (..., d_model) -> logits (..., vocab_size). There is one matrix for
    tokens in and tokens out.
    Source: Press and Wolf (2017).
    """

    def __init__(self, embedding: nn.Embedding):
        """Share the weight of ``embedding``; no copy is made."""
        super().__init__()
        self.weight = embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        """Compare every vector with every token's vector."""
        return x @ self.weight.T


def next_token_loss(logits: Tensor, tokens: Tensor, pad_id: int) -> Tensor:
    """Ask at every place how surprising the token after it is; filling does not count.

    Shapes: logits (batch, seq, vocab_size), tokens (batch, seq) of ids, the very
    tokens that the logits were made from -> (), in nats for each real token.
    Source: Radford et al. (2018), equation 1.
    """
    predictions, following = logits[:, :-1], tokens[:, 1:]
    return F.cross_entropy(
        predictions.flatten(0, 1), following.flatten(), ignore_index=pad_id
    )


def perplexity(loss: float) -> float:
    """Say among how many tokens the model hesitates, for a loss in nats for a token.

    Source: Jelinek et al. (1977).
    """
    return math.exp(loss)


def bits_per_character(loss: float, num_tokens: int, num_characters: int) -> float:
    """Turn a loss in nats for a token into bits for a character of the text.

    So that models with different tokens can be compared.
    Source: Al-Rfou et al. (2019), section 3.
    """
    return loss * num_tokens / num_characters / math.log(2)
