"""Right answers to chapter 10 written differently: each must get full marks."""

import itertools
import math
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right
from solutions.tokens import CUTS, byte_tokens, split_bytes


@right("a plain dictionary and indices")
def count_pairs(words):
    pairs = {}
    for word in words:
        for i in range(len(word) - 1):
            pair = (word[i], word[i + 1])
            pairs[pair] = pairs.get(pair, 0) + words[word]
    return pairs


@right("zipped with itself")
def count_pairs(words):
    pairs = dict.fromkeys((p for w in words for p in itertools.pairwise(w)), 0)
    for word, times in words.items():
        for first, second in itertools.pairwise(word):
            pairs[first, second] += times
    return pairs


@right("counters multiplied and summed")
def count_pairs(words):
    total = Counter()
    for word, times in words.items():
        inside = Counter(itertools.pairwise(word))
        total.update({pair: count * times for pair, count in inside.items()})
    return total


@right("looking back at what was written last")
def merge_pair(symbols, pair):
    merged, free = [], False
    for symbol in symbols:
        if free and merged[-1] == pair[0] and symbol == pair[1]:
            merged[-1] = pair[0] + pair[1]
            free = False
        else:
            merged.append(symbol)
            free = True
    return tuple(merged)


@right("by recursion")
def merge_pair(symbols, pair):
    if len(symbols) < 2:
        return tuple(symbols)
    if (symbols[0], symbols[1]) == tuple(pair):
        return (pair[0] + pair[1], *merge_pair(symbols[2:], pair))
    return (symbols[0], *merge_pair(symbols[1:], pair))


@right("an iterator that may be advanced")
def merge_pair(symbols, pair):
    result = []
    steps = iter(range(len(symbols)))
    for i in steps:
        if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            result.append(symbols[i] + symbols[i + 1])
            next(steps)
        else:
            result.append(symbols[i])
    return tuple(result)


@right("everything counted anew each time")
def train_bpe(texts, num_merges):
    counts = Counter(word for text in texts for word in CUTS.findall(text))
    words = {split_bytes(word): times for word, times in counts.items()}
    ids = {token: i for i, token in enumerate(byte_tokens())}
    merges = []
    for _ in range(num_merges):
        pairs = count_pairs(words)
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], ids[p[0]], ids[p[1]]))
        merges.append(best)
        ids.setdefault(best[0] + best[1], len(ids))
        words = {merge_pair(word, best): times for word, times in words.items()}
    return merges


@right("a list of words, with repeats and without the pieces before")
def train_bpe(texts, num_merges):
    words = [
        [bytes([byte]) for byte in word.encode("utf-8")]
        for text in texts
        for word in CUTS.findall(text)
    ]
    order, merges = list(byte_tokens()), []
    while len(merges) < num_merges:
        pairs = Counter(p for w in words for p in itertools.pairwise(w))
        if not pairs:
            return merges
        most = max(pairs.values())
        ties = [pair for pair, times in pairs.items() if times == most]
        best = sorted(ties, key=lambda p: (order.index(p[0]), order.index(p[1])))[0]
        merges.append(best)
        if best[0] + best[1] not in order:
            order.append(best[0] + best[1])
        for word in words:
            i = 0
            while i < len(word) - 1:
                if (word[i], word[i + 1]) == best:
                    word[i : i + 2] = [best[0] + best[1]]
                i += 1
    return merges


@right("merges applied one after the other, in order")
class ByteBPE:
    def __init__(self, merges):
        self.merges = list(merges)
        self.vocab = byte_tokens()
        for first, second in self.merges:
            if first + second not in self.vocab:
                self.vocab.append(first + second)

    def encode(self, text):
        found = []
        for word in CUTS.findall(text):
            symbols = split_bytes(word)
            for pair in self.merges:
                symbols = merge_pair(symbols, pair)
            found.extend(self.vocab.index(symbol) for symbol in symbols)
        return found

    def decode(self, ids):
        raw = bytearray()
        for i in ids:
            raw += self.vocab[i]
        return bytes(raw).decode("utf-8", "replace")


@right("with every merge listed, and dictionaries both ways")
class ByteBPE:
    def __init__(self, merges):
        self.vocab = byte_tokens() + [first + second for first, second in merges]
        self.by_id = dict(enumerate(self.vocab))
        self.by_token = {token: i for i, token in self.by_id.items()}
        self.rank = {tuple(pair): i for i, pair in enumerate(merges)}

    def encode(self, text):
        ids = []
        for word in CUTS.findall(text):
            parts = [bytes([byte]) for byte in word.encode("utf-8")]
            while True:
                known = [
                    (self.rank[pair], place)
                    for place, pair in enumerate(itertools.pairwise(parts))
                    if pair in self.rank
                ]
                if not known:
                    break
                _, place = min(known)
                parts[place : place + 2] = [parts[place] + parts[place + 1]]
            ids += [self.by_token[part] for part in parts]
        return ids

    def decode(self, ids):
        return str(b"".join(map(self.by_id.get, ids)), "utf-8", errors="replace")


@right("words remembered")
class ByteBPE:
    def __init__(self, merges):
        self.ranks = dict(zip(merges, range(len(merges)), strict=True))
        self.vocab = [*byte_tokens(), *(b"".join(pair) for pair in merges)]
        self.ids = dict(zip(self.vocab, range(len(self.vocab)), strict=True))
        self.seen = {}

    def encode(self, text):
        return [i for word in CUTS.findall(text) for i in self._ids_of(word)]

    def _ids_of(self, word):
        if word not in self.seen:
            symbols = split_bytes(word)
            while True:
                pairs = set(itertools.pairwise(symbols)) & self.ranks.keys()
                if not pairs:
                    break
                symbols = merge_pair(symbols, min(pairs, key=self.ranks.get))
            self.seen[word] = [self.ids[symbol] for symbol in symbols]
        return self.seen[word]

    def decode(self, ids):
        return b"".join([self.vocab[int(i)] for i in ids]).decode("utf8", "replace")


@right("two loops, as in BERT's code")
def word_pieces(word, vocab, unknown="[UNK]"):
    if len(word) > 100:
        return [unknown]
    output, start = [], 0
    while start < len(word):
        end, found = len(word), None
        while start < end:
            name = word[start:end]
            if start > 0:
                name = "##" + name
            if name in vocab:
                found = name
                break
            end -= 1
        if found is None:
            return [unknown]
        output.append(found)
        start = end
    return output


@right("by recursion")
def word_pieces(word, vocab, unknown="[UNK]"):
    def cut(rest, prefix):
        if not rest:
            return []
        for end in range(len(rest), 0, -1):
            if prefix + rest[:end] in vocab:
                after = cut(rest[end:], "##")
                return None if after is None else [prefix + rest[:end], *after]
        return None

    found = cut(word, "") if len(word) <= 100 else None
    return [unknown] if found is None else found


@right("a linear layer whose weight is the embedding's")
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        vocab_size, d_model = embedding.weight.shape
        self.linear = nn.Linear(d_model, vocab_size, bias=False)
        self.linear.weight = embedding.weight

    def forward(self, x):
        return self.linear(x)


@right("the embedding itself is kept")
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, x):
        return F.linear(x, self.embedding.weight)


@right("einsum")
class LanguageModelHead(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.table = embedding.weight

    def forward(self, x):
        return torch.einsum("...d,vd->...v", x, self.table)


@right("classes on the second axis")
def next_token_loss(logits, tokens, pad_id):
    return F.cross_entropy(
        logits[:, :-1].transpose(1, 2), tokens[:, 1:], ignore_index=pad_id
    )


@right("gathered from the logarithms, and masked")
def next_token_loss(logits, tokens, pad_id):
    chances = torch.log_softmax(logits[:, :-1], dim=-1)
    following = tokens[:, 1:]
    found = chances.gather(-1, following.unsqueeze(-1)).squeeze(-1)
    real = (following != pad_id).to(found.dtype)
    return -(found * real).sum() / real.sum()


@right("log-sum-exp minus the score, real places picked first")
def next_token_loss(logits, tokens, pad_id):
    real = tokens[:, 1:] != pad_id
    scores, following = logits[:, :-1][real], tokens[:, 1:][real]
    right_ones = scores[torch.arange(len(following)), following]
    return (torch.logsumexp(scores, dim=-1) - right_ones).mean()


@right("labels that carry -100")
def next_token_loss(logits, tokens, pad_id):
    labels = tokens.clone()
    labels[labels == pad_id] = -100
    vocab_size = logits.size(-1)
    return nn.CrossEntropyLoss()(
        logits[..., :-1, :].reshape(-1, vocab_size), labels[..., 1:].reshape(-1)
    )


@right("a power of e")
def perplexity(loss):
    return math.e**loss


@right("through a tensor")
def perplexity(loss):
    return torch.exp(torch.tensor(float(loss), dtype=torch.float64)).item()


@right("bits first")
def bits_per_character(loss, num_tokens, num_characters):
    bits = loss * math.log2(math.e)
    return bits / (num_characters / num_tokens)
