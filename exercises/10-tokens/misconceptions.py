"""Wrong answers that learners really give in chapter 10, each with its explanation."""

import itertools
import math
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import wrong, wrong_choice
from solutions.tokens import CUTS, byte_tokens, split_bytes

BYTES = "Bytes never run out"
MERGING = "Join what stands together"
ENCODING = "In the order of learning"
WORDPIECE = "The longest piece"
HEAD = "The same matrix, the other way"
LOSS = "One step to the left"
MEASURES = "How many tokens does it hesitate among?"


@wrong(
    check="count-pairs",
    section=MERGING,
    sentence="every word counts once, however often it occurs. Count a pair as many "
    "times as its word.",
)
def count_pairs(words):
    return Counter(pair for word in words for pair in itertools.pairwise(word))


@wrong(
    check="count-pairs",
    section=MERGING,
    sentence="the pairs of a word are put into a set, so a pair that stands in a word "
    "twice counts once.",
)
def count_pairs(words):
    pairs = Counter()
    for word, times in words.items():
        for pair in set(itertools.pairwise(word)):
            pairs[pair] += times
    return pairs


@wrong(
    check="count-pairs",
    section=MERGING,
    sentence="a later word replaces what an earlier one has counted: `=` is used "
    "instead of `+=`.",
)
def count_pairs(words):
    pairs = Counter()
    for word, times in words.items():
        for pair in itertools.pairwise(word):
            pairs[pair] = times
    return pairs


@wrong(
    check="count-pairs",
    section=MERGING,
    sentence="the symbols are cut into pairs that do not overlap. Each symbol belongs "
    "to two pairs: with the one before and with the one after.",
)
def count_pairs(words):
    pairs = Counter()
    for word, times in words.items():
        for i in range(0, len(word) - 1, 2):
            pairs[word[i], word[i + 1]] += times
    return pairs


@wrong(
    check="count-pairs",
    section=MERGING,
    sentence="every two symbols of a word are counted. Only neighbours can be joined.",
)
def count_pairs(words):
    pairs = Counter()
    for word, times in words.items():
        for pair in itertools.combinations(word, 2):
            pairs[pair] += times
    return pairs


@wrong(
    check="count-pairs",
    section=MERGING,
    sentence="single symbols are counted, not pairs.",
)
def count_pairs(words):
    symbols = Counter()
    for word, times in words.items():
        for symbol in word:
            symbols[symbol] += times
    return symbols


@wrong(
    check="count-pairs",
    section=MERGING,
    sentence="the last pair of each word is missing.",
)
def count_pairs(words):
    pairs = Counter()
    for word, times in words.items():
        for i in range(len(word) - 2):
            pairs[word[i], word[i + 1]] += times
    return pairs


@wrong(
    check="merge-pair",
    section=MERGING,
    sentence="only the first place is joined. Join the pair wherever it stands.",
)
def merge_pair(symbols, pair):
    for i in range(len(symbols) - 1):
        if symbols[i : i + 2] == pair:
            return (*symbols[:i], pair[0] + pair[1], *symbols[i + 2 :])
    return symbols


@wrong(
    check="merge-pair",
    section=MERGING,
    sentence="a symbol that has been joined is used a second time. Go two steps after "
    "joining.",
)
def merge_pair(symbols, pair):
    merged = []
    for i, symbol in enumerate(symbols):
        if symbols[i : i + 2] == pair:
            merged.append(pair[0] + pair[1])
        elif i == 0 or symbols[i - 1 : i + 1] != pair:
            merged.append(symbol)
    return tuple(merged)


@wrong(
    check="merge-pair",
    section=MERGING,
    sentence="the pair is joined from the right. Of three of a kind, the first two are "
    "joined.",
)
def merge_pair(symbols, pair):
    merged, place = [], len(symbols)
    while place > 0:
        if symbols[max(0, place - 2) : place] == pair:
            merged.append(pair[0] + pair[1])
            place -= 2
        else:
            merged.append(symbols[place - 1])
            place -= 1
    return tuple(reversed(merged))


@wrong(
    check="merge-pair",
    section=MERGING,
    sentence="the last symbol of the word is lost when it is not part of the pair.",
)
def merge_pair(symbols, pair):
    merged, place = [], 0
    while place < len(symbols) - 1:
        if symbols[place : place + 2] == pair:
            merged.append(pair[0] + pair[1])
            place += 2
        else:
            merged.append(symbols[place])
            place += 1
    return tuple(merged)


@wrong(
    check="merge-pair",
    section=MERGING,
    sentence="the symbol after a joined pair is jumped over: go two steps, not three.",
)
def merge_pair(symbols, pair):
    merged, place = [], 0
    while place < len(symbols):
        if symbols[place : place + 2] == pair:
            merged.append(pair[0] + pair[1])
            place += 3
        else:
            merged.append(symbols[place])
            place += 1
    return tuple(merged)


@wrong(
    check="merge-pair",
    section=MERGING,
    sentence="the two symbols are joined in either order. A pair has an order: t, h is "
    "not h, t.",
)
def merge_pair(symbols, pair):
    merged, place = [], 0
    while place < len(symbols):
        if len(symbols) > place + 1 and set(symbols[place : place + 2]) == set(pair):
            merged.append(pair[0] + pair[1])
            place += 2
        else:
            merged.append(symbols[place])
            place += 1
    return tuple(merged)


@wrong(
    check="train-bpe",
    section=MERGING,
    sentence="the pairs are counted only once, before the first merge. Each merge "
    "makes new pairs, and old ones rarer.",
)
def train_bpe(texts, num_merges):
    counts = Counter(word for text in texts for word in CUTS.findall(text))
    pairs = count_pairs({split_bytes(word): n for word, n in counts.items()})
    order = byte_tokens()
    ids = {token: i for i, token in enumerate(order)}
    ranked = sorted(pairs, key=lambda p: (-pairs[p], ids[p[0]], ids[p[1]]))
    return ranked[:num_merges]


@wrong(
    check="train-bpe",
    section=MERGING,
    sentence="every different word counts once, however often it occurs in the texts.",
)
def train_bpe(texts, num_merges):
    words = {split_bytes(w): 1 for text in texts for w in CUTS.findall(text)}
    ids = {token: i for i, token in enumerate(byte_tokens())}
    merges = []
    while len(merges) < num_merges:
        pairs = count_pairs(words)
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], ids[p[0]], ids[p[1]]))
        merges.append(best)
        ids.setdefault(best[0] + best[1], len(ids))
        words = {merge_pair(word, best): n for word, n in words.items()}
    return merges


@wrong(
    check="train-bpe",
    section=MERGING,
    sentence="of equally frequent pairs the one with the larger ids is taken. The "
    "smaller ones come first.",
)
def train_bpe(texts, num_merges):
    counts = Counter(word for text in texts for word in CUTS.findall(text))
    words = {split_bytes(word): n for word, n in counts.items()}
    ids = {token: i for i, token in enumerate(byte_tokens())}
    merges = []
    while len(merges) < num_merges:
        pairs = count_pairs(words)
        if not pairs:
            break
        best = max(pairs, key=lambda p: (pairs[p], ids[p[0]], ids[p[1]]))
        merges.append(best)
        ids.setdefault(best[0] + best[1], len(ids))
        words = {merge_pair(word, best): n for word, n in words.items()}
    return merges


@wrong(
    check="train-bpe",
    section=MERGING,
    sentence="of equally frequent pairs the one that was seen first is taken. That "
    "depends on the order of the texts; the ids decide.",
)
def train_bpe(texts, num_merges):
    counts = Counter(word for text in texts for word in CUTS.findall(text))
    words = {split_bytes(word): n for word, n in counts.items()}
    merges = []
    while len(merges) < num_merges:
        pairs = count_pairs(words)
        if not pairs:
            break
        best = max(pairs, key=pairs.get)
        merges.append(best)
        words = {merge_pair(word, best): n for word, n in words.items()}
    return merges


@wrong(
    check="train-bpe",
    section=MERGING,
    sentence="it fails when no pair is left: max() of nothing. Stop early instead.",
)
def train_bpe(texts, num_merges):
    counts = Counter(word for text in texts for word in CUTS.findall(text))
    words = {split_bytes(word): n for word, n in counts.items()}
    ids = {token: i for i, token in enumerate(byte_tokens())}
    merges = []
    for _ in range(num_merges):
        pairs = count_pairs(words)
        best = max(pairs, key=lambda p: (pairs[p], -ids[p[0]], -ids[p[1]]))
        merges.append(best)
        ids.setdefault(best[0] + best[1], len(ids))
        words = {merge_pair(word, best): n for word, n in words.items()}
    return merges


@wrong(
    check="train-bpe",
    section=MERGING,
    sentence="the texts are not cut into words, so merges go across them. Cut with "
    "CUTS.findall first.",
)
def train_bpe(texts, num_merges):
    words = Counter(split_bytes(text) for text in texts)
    ids = {token: i for i, token in enumerate(byte_tokens())}
    merges = []
    while len(merges) < num_merges:
        pairs = count_pairs(words)
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], ids[p[0]], ids[p[1]]))
        merges.append(best)
        ids.setdefault(best[0] + best[1], len(ids))
        words = {merge_pair(word, best): n for word, n in words.items()}
    return merges


@wrong(
    check="train-bpe",
    section=MERGING,
    sentence="the words are cut at spaces, and the spaces are lost. They belong to the "
    "words after them; signs are words of their own. Cut with CUTS.findall.",
)
def train_bpe(texts, num_merges):
    counts = Counter(word for text in texts for word in text.split())
    words = {split_bytes(word): n for word, n in counts.items()}
    ids = {token: i for i, token in enumerate(byte_tokens())}
    merges = []
    while len(merges) < num_merges:
        pairs = count_pairs(words)
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], ids[p[0]], ids[p[1]]))
        merges.append(best)
        ids.setdefault(best[0] + best[1], len(ids))
        words = {merge_pair(word, best): n for word, n in words.items()}
    return merges


@wrong(
    check="train-bpe",
    section=MERGING,
    sentence="it ends as soon as no pair occurs twice. Here every pair counts, until "
    "none is left.",
)
def train_bpe(texts, num_merges):
    counts = Counter(word for text in texts for word in CUTS.findall(text))
    words = {split_bytes(word): n for word, n in counts.items()}
    ids = {token: i for i, token in enumerate(byte_tokens())}
    merges = []
    while len(merges) < num_merges:
        pairs = count_pairs(words)
        if not pairs or max(pairs.values()) < 2:
            break
        best = min(pairs, key=lambda p: (-pairs[p], ids[p[0]], ids[p[1]]))
        merges.append(best)
        ids.setdefault(best[0] + best[1], len(ids))
        words = {merge_pair(word, best): n for word, n in words.items()}
    return merges


@wrong(
    check="byte-bpe",
    section=BYTES,
    sentence="the bytes have their own values as ids. GPT-2 puts the printable ones "
    "first: take the order of byte_tokens().",
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = [bytes([i]) for i in range(256)] + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            while len(symbols) > 1:
                pairs = list(itertools.pairwise(symbols))
                first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
                if first not in self.ranks:
                    break
                symbols = merge_pair(symbols, first)
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")


@wrong(
    check="byte-bpe",
    section=ENCODING,
    sentence="from the left, always the longest token is taken. BPE joins pairs in the "
    "order in which they were learned; the longest token may never come about.",
)
class ByteBPE:
    def __init__(self, merges):
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            raw = word.encode()
            while raw:
                end = next(e for e in range(len(raw), 0, -1) if raw[:e] in self.ids)
                found.append(self.ids[raw[:end]])
                raw = raw[end:]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")


@wrong(
    check="byte-bpe",
    section=ENCODING,
    sentence="the leftmost pair that was ever learned is joined. Take the one that was "
    "learned first.",
)
class ByteBPE:
    def __init__(self, merges):
        self.merges = set(merges)
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = list(split_bytes(word))
            place = 0
            while place < len(symbols) - 1:
                if (symbols[place], symbols[place + 1]) in self.merges:
                    symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
                    place = 0
                else:
                    place += 1
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")


@wrong(
    check="byte-bpe",
    section=ENCODING,
    sentence="the merge that was learned last goes first. The order is the other way "
    "round.",
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: -rank for rank, pair in enumerate(merges)}
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            while len(symbols) > 1:
                pairs = list(itertools.pairwise(symbols))
                first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
                if first not in self.ranks:
                    break
                symbols = merge_pair(symbols, first)
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")


@wrong(
    check="byte-bpe",
    section=ENCODING,
    sentence="each token is decoded by itself, so a character that is spread over "
    "several tokens becomes signs. Put the bytes together first.",
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            while len(symbols) > 1:
                pairs = list(itertools.pairwise(symbols))
                first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
                if first not in self.ranks:
                    break
                symbols = merge_pair(symbols, first)
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return "".join(self.vocab[i].decode(errors="replace") for i in ids)


@wrong(
    check="byte-bpe",
    section=ENCODING,
    sentence="bytes that are no UTF-8 raise an error. A model may well write half a "
    'character: decode with errors="replace".',
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            while len(symbols) > 1:
                pairs = list(itertools.pairwise(symbols))
                first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
                if first not in self.ranks:
                    break
                symbols = merge_pair(symbols, first)
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode()


@wrong(
    check="byte-bpe",
    section=ENCODING,
    sentence="bytes that are no UTF-8 are dropped without a trace. They become the "
    'sign for something unreadable: errors="replace".',
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            while len(symbols) > 1:
                pairs = list(itertools.pairwise(symbols))
                first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
                if first not in self.ranks:
                    break
                symbols = merge_pair(symbols, first)
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="ignore")


@wrong(
    check="byte-bpe",
    section=BYTES,
    sentence="the bytes are decoded as Latin-1, one character for each byte. They are "
    "UTF-8, in which a character may have up to four.",
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            while len(symbols) > 1:
                pairs = list(itertools.pairwise(symbols))
                first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
                if first not in self.ranks:
                    break
                symbols = merge_pair(symbols, first)
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode("latin-1")


@wrong(
    check="byte-bpe",
    section=MERGING,
    sentence="the text is not cut into words, so merges go across spaces. Cut with "
    "CUTS.findall first.",
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        symbols = split_bytes(text)
        while len(symbols) > 1:
            pairs = list(itertools.pairwise(symbols))
            first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
            if first not in self.ranks:
                break
            symbols = merge_pair(symbols, first)
        return [self.ids[symbol] for symbol in symbols]

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")


@wrong(
    check="byte-bpe",
    section=ENCODING,
    sentence="only one pair of each word is joined. Go on until no learned pair is "
    "left.",
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            pairs = [p for p in itertools.pairwise(symbols) if p in self.ranks]
            if pairs:
                symbols = merge_pair(symbols, min(pairs, key=self.ranks.get))
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")


@wrong(
    check="byte-bpe",
    section=ENCODING,
    sentence="the joined tokens are numbered from 0, and share their ids with bytes. "
    "The 256 bytes come first.",
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = [a + b for a, b in merges] + byte_tokens()
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            while len(symbols) > 1:
                pairs = list(itertools.pairwise(symbols))
                first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
                if first not in self.ranks:
                    break
                symbols = merge_pair(symbols, first)
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")


@wrong(
    check="byte-bpe",
    section=BYTES,
    sentence="the text is put into small letters before it is cut. Then it cannot come "
    "back as it was.",
    seen="graded",
)
class ByteBPE:
    def __init__(self, merges):
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.vocab = byte_tokens() + [a + b for a, b in merges]
        self.ids = {token: i for i, token in enumerate(self.vocab)}

    def encode(self, text):
        found = []
        for word in CUTS.findall(text.lower()):
            symbols = split_bytes(word)
            while len(symbols) > 1:
                pairs = list(itertools.pairwise(symbols))
                first = min(pairs, key=lambda p: self.ranks.get(p, math.inf))
                if first not in self.ranks:
                    break
                symbols = merge_pair(symbols, first)
            found += [self.ids[symbol] for symbol in symbols]
        return found

    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode(errors="replace")


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="the pieces inside the word are looked up without ##. Only the first "
    "piece has none.",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        ends = range(len(word), start, -1)
        end = next((e for e in ends if word[start:e] in vocab), None)
        if end is None or len(word) > 100:
            return [unknown]
        pieces.append(word[start:end])
        start = end
    return pieces


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="the ## is taken off the pieces before they are given back. It is part of "
    "their name, and of their id.",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((e for e in ends if prefix + word[start:e] in vocab), None)
        if end is None or len(word) > 100:
            return [unknown]
        pieces.append(word[start:end])
        start = end
    return pieces


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="the shortest piece that fits is taken. Take the longest.",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(start + 1, len(word) + 1)
        end = next((e for e in ends if prefix + word[start:e] in vocab), None)
        if end is None or len(word) > 100:
            return [unknown]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="the pieces that were found before the unknown part are kept. One part "
    "that fits nowhere makes the whole word unknown.",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((e for e in ends if prefix + word[start:e] in vocab), None)
        if end is None or len(word) > 100:
            return [*pieces, unknown]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="a letter that fits nowhere is jumped over and becomes unknown by itself. "
    "It makes the whole word unknown.",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((e for e in ends if prefix + word[start:e] in vocab), None)
        pieces.append(prefix + word[start:end] if end else unknown)
        start = end or start + 1
    return pieces


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="a long word is cut like any other. A word of more than 100 characters is "
    "unknown.",
    seen="graded",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((e for e in ends if prefix + word[start:e] in vocab), None)
        if end is None:
            return [unknown]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="the unknown is always called [UNK], whatever name is handed over.",
    seen="graded",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((e for e in ends if prefix + word[start:e] in vocab), None)
        if end is None or len(word) > 100:
            return ["[UNK]"]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="pieces without ## are taken inside the word as well. A name without ## "
    "is the beginning of a word, and means something else.",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        found = None
        for end in range(len(word), start, -1):
            names = ["##" + word[start:end], word[start:end]][start == 0 :]
            found = next((name for name in names if name in vocab), None)
            if found:
                break
        if found is None or len(word) > 100:
            return [unknown]
        pieces.append(found)
        start = end
    return pieces


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="the longest piece is looked for from the right end of the word. Go from "
    "left to right.",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, end = [], len(word)
    while end > 0:
        starts = range(end)
        names = (("##" if s else "") + word[s:end] for s in starts)
        found = next(((s, n) for s, n in enumerate(names) if n in vocab), None)
        if found is None or len(word) > 100:
            return [unknown]
        end = found[0]
        pieces.insert(0, found[1])
    return pieces[::-1]


@wrong(
    check="word-pieces",
    section=WORDPIECE,
    sentence="the ids come back instead of the pieces.",
)
def word_pieces(word, vocab, unknown="[UNK]"):
    pieces, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((e for e in ends if prefix + word[start:e] in vocab), None)
        if end is None or len(word) > 100:
            return [vocab.get(unknown, 0)]
        pieces.append(vocab[prefix + word[start:end]])
        start = end
    return pieces


@wrong(
    check="head",
    section=HEAD,
    sentence="the matrix is copied. It begins equal and then goes its own way: share "
    "the parameter itself.",
)
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.weight = nn.Parameter(embedding.weight.detach().clone())

    def forward(self, x):
        return x @ self.weight.T


@wrong(
    check="head",
    section=HEAD,
    sentence="the numbers are shared, but wrapped in a parameter of their own: the "
    "gradients of the two ends go separate ways. Share the parameter itself.",
    seen="graded",
)
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.weight = nn.Parameter(embedding.weight.data)

    def forward(self, x):
        return x @ self.weight.T


@wrong(
    check="head",
    section=HEAD,
    sentence="the head has a matrix of its own, with random numbers. Use the matrix of "
    "the embedding.",
)
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        vocab_size, d_model = embedding.weight.shape
        self.linear = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, x):
        return self.linear(x)


@wrong(
    check="head",
    section=HEAD,
    sentence="softmax is already in the head. Its output are scores; the loss takes "
    "the softmax itself.",
)
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.weight = embedding.weight

    def forward(self, x):
        return torch.softmax(x @ self.weight.T, dim=-1)


@wrong(
    check="head",
    section=HEAD,
    sentence="the vectors are multiplied by the matrix the wrong way round: it is "
    "(vocab_size, d_model), and must be transposed.",
)
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.weight = embedding.weight

    def forward(self, x):
        return x @ self.weight


@wrong(
    check="head",
    section=HEAD,
    sentence="the matrix is used through .data or .detach(): no gradient reaches it "
    "from this end.",
)
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.weight = embedding.weight

    def forward(self, x):
        return x @ self.weight.detach().T


@wrong(
    check="head",
    section=HEAD,
    sentence="the scores are divided by the square root of d_model. T5 does something "
    "like it; here they stay as they are.",
)
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.weight = embedding.weight

    def forward(self, x):
        return x @ self.weight.T / math.sqrt(x.shape[-1])


@wrong(
    check="head",
    section=HEAD,
    sentence="there is a bias. The head shares the matrix, and has nothing else.",
    seen="graded",
)
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.weight = embedding.weight
        self.bias = nn.Parameter(torch.zeros(len(embedding.weight)))

    def forward(self, x):
        return x @ self.weight.T + self.bias


@wrong(
    check="loss",
    section=LOSS,
    sentence="there is no shift: the logits are compared with the token that they have "
    "already read. The model would learn to copy.",
)
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), ignore_index=pad_id)


@wrong(
    check="loss",
    section=LOSS,
    sentence="the shift goes the wrong way: the logits are compared with the token "
    "before.",
)
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(
        logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten(), ignore_index=pad_id
    )


@wrong(
    check="loss",
    section=LOSS,
    sentence="everything is shifted twice: the logits are compared with the token "
    "after next.",
)
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(
        logits[:, :-2].flatten(0, 1), tokens[:, 2:].flatten(), ignore_index=pad_id
    )


@wrong(
    check="loss",
    section=LOSS,
    sentence="filling counts: its loss is in the average. Leave out targets equal "
    "to pad_id.",
)
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


@wrong(
    check="loss",
    section=LOSS,
    sentence="the filling is always taken to be 0. Its id is handed over as pad_id.",
)
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0
    )


@wrong(
    check="loss",
    section=LOSS,
    sentence="filling adds nothing, but it is counted in the average: the sum is "
    "divided by all places instead of the real tokens.",
)
def next_token_loss(logits, tokens, pad_id):
    targets = tokens[:, 1:]
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), targets, reduction="none")
    return losses.masked_fill(targets == pad_id, 0.0).mean()


@wrong(
    check="loss",
    section=LOSS,
    sentence="the losses are added up, not averaged: the loss would grow with the "
    "length of the text.",
)
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1),
        tokens[:, 1:].flatten(),
        ignore_index=pad_id,
        reduction="sum",
    )


@wrong(
    check="loss",
    section=LOSS,
    sentence="softmax is taken twice: cross_entropy takes it itself, so it wants "
    "logits.",
)
def next_token_loss(logits, tokens, pad_id):
    chances = torch.softmax(logits[:, :-1], dim=-1)
    return F.cross_entropy(
        chances.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad_id
    )


@wrong(
    check="loss",
    section=LOSS,
    sentence="each sentence is averaged by itself, and then the sentences. The average "
    "is over all real tokens, so that each counts the same.",
    seen="graded",
)
def next_token_loss(logits, tokens, pad_id):
    losses = [
        F.cross_entropy(row[:-1], ids[1:], ignore_index=pad_id)
        for row, ids in zip(logits, tokens, strict=True)
    ]
    return torch.stack(losses).mean()


@wrong(
    check="loss",
    section=LOSS,
    sentence="the places are left out at which filling was *read*. What counts is what "
    "is to be *guessed*: the token after.",
)
def next_token_loss(logits, tokens, pad_id):
    real = tokens[:, :-1] != pad_id
    return F.cross_entropy(logits[:, :-1][real], tokens[:, 1:][real])


@wrong(
    check="loss",
    section=LOSS,
    sentence="the logits are reshaped so that places and tokens of the vocabulary "
    "change places. Use transpose or flatten.",
)
def next_token_loss(logits, tokens, pad_id):
    batch, seq, vocab_size = logits.shape
    shaped = logits[:, :-1].reshape(batch, vocab_size, seq - 1)
    return F.cross_entropy(shaped, tokens[:, 1:], ignore_index=pad_id)


@wrong(
    check="loss",
    section=LOSS,
    sentence="the sign is missing: a loss is minus the logarithm of the probability.",
)
def next_token_loss(logits, tokens, pad_id):
    return -F.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad_id
    )


@wrong(
    check="loss",
    section=LOSS,
    sentence="the shift is made on the flattened batch, so the last logits of a "
    "sentence are compared with the first token of the next sentence.",
)
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(
        logits.flatten(0, 1)[:-1], tokens.flatten()[1:], ignore_index=pad_id
    )


@wrong(
    check="loss",
    section=LOSS,
    sentence="the tokens are rolled round: the last logits are compared with the first "
    "token of the same sentence. Leave both out.",
)
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(
        logits.flatten(0, 1), tokens.roll(-1, dims=1).flatten(), ignore_index=pad_id
    )


@wrong(
    check="perplexity",
    section=MEASURES,
    sentence="two is raised to the loss. The loss is in nats: raise e to it.",
)
def perplexity(loss):
    return 2.0**loss


@wrong(
    check="perplexity",
    section=MEASURES,
    sentence="this is the probability of a token, not the number of tokens: the sign "
    "of the exponent is turned round.",
)
def perplexity(loss):
    return math.exp(-loss)


@wrong(
    check="perplexity",
    section=MEASURES,
    sentence="this is the loss in bits. Perplexity is e to the loss in nats.",
)
def perplexity(loss):
    return loss / math.log(2)


@wrong(
    check="bits",
    section=MEASURES,
    sentence="the result is in nats. Divide by ln 2 to get bits.",
)
def bits_per_character(loss, num_tokens, num_characters):
    return loss * num_tokens / num_characters


@wrong(
    check="bits",
    section=MEASURES,
    sentence="multiplied by ln 2 instead of divided. A nat is more than a bit, so the "
    "number must become larger.",
)
def bits_per_character(loss, num_tokens, num_characters):
    return loss * num_tokens / num_characters * math.log(2)


@wrong(
    check="bits",
    section=MEASURES,
    sentence="tokens and characters have changed places: share the loss of all tokens "
    "among the characters.",
)
def bits_per_character(loss, num_tokens, num_characters):
    return loss * num_characters / num_tokens / math.log(2)


@wrong(
    check="bits",
    section=MEASURES,
    sentence="these are bits for a token. Share them among the characters.",
)
def bits_per_character(loss, num_tokens, num_characters):
    return loss / math.log(2)


@wrong(
    check="bits",
    section=MEASURES,
    sentence="the loss is divided by the characters, but it is the loss of one token. "
    "Multiply it by the number of tokens first.",
)
def bits_per_character(loss, num_tokens, num_characters):
    return loss / num_characters / math.log(2)


wrong_choice(
    "unseen_text",
    check="concept-unseen-text",
    section=BYTES,
    a="there is no such token. Every text is bytes, and all 256 bytes are in the "
    "vocabulary. WordPiece has one.",
    b="every text is bytes, and all 256 bytes are in the vocabulary.",
    c="nothing is lost: what was encoded is decoded exactly.",
)
wrong_choice(
    "no_shift",
    check="concept-no-shift",
    section=LOSS,
    a="the token that is to be guessed has been read already. Copying it is all there "
    "is to learn.",
    c="the loss falls quickly, since copying is easy.",
    d="the token at the same place is compared, not the one before.",
)
wrong_choice(
    "tied",
    check="concept-tied",
    section=HEAD,
    b="there is one parameter. Nothing has to be made equal.",
    c="a shared parameter cannot go two ways. A copy could.",
    d="it is used twice, and both uses give gradients.",
)
wrong_choice(
    "which_better",
    check="concept-which-better",
    section=MEASURES,
    a="a word has several bytes, so one guess of B does the work of several of A. "
    "Compare bits per character.",
    b="a lower perplexity is better, but only among models with the same tokens.",
    d="it depends on the model, and on its tokens as well.",
)
