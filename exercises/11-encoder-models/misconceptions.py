"""Wrong answers that learners really give in chapter 11, each with its explanation."""

import itertools
import re

import torch
import torch.nn.functional as F

from exercises.answers import wrong, wrong_choice
from solutions.encoders import choose_tokens

HIDING = "Hide a word, ask for it"
LOTS = "Eight, one, one"
LOSS = "Only the hidden places count"
PAIRS = "Does it follow?"
VECTOR = "One vector for the whole input"
FRESH = "RoBERTa: fresh masks"
PLACES = "Positions that begin after the filling"
TEACHER = "DistilBERT: learn from a teacher"
LAYERS = "Every second layer"
LANGUAGES = "XLM: two languages side by side"


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="special tokens and filling are chosen too. Nobody can guess a `[SEP]`, "
    "or should learn to.",
)
def choose_tokens(tokens, special, rate, generator):
    return torch.rand(tokens.shape, generator=generator).to(tokens.device) < rate


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="only the first of the special ids is left out. `special` holds several.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return (drawn < rate) & (tokens != special[0])


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="only special tokens are chosen: the condition is the wrong way round.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return (drawn < rate) & torch.isin(tokens, special)


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="`>` is used instead of `<`: with a rate of 0.15, 85 of 100 tokens are "
    "chosen.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return (drawn > rate) & ~torch.isin(tokens, special)


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="the numbers are drawn with `randn`, from a bell curve. Its share below "
    "0.15 is 56 of 100. Use `rand`.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.randn(tokens.shape, generator=generator).to(tokens.device)
    return (drawn < rate) & ~torch.isin(tokens, special)


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="one choice is drawn and used for every sentence of the batch. Draw a "
    "number for each token of each sentence.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.rand(tokens.shape[-1], generator=generator).to(tokens.device)
    return (drawn < rate) & ~torch.isin(tokens, special)


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="whole sentences are chosen or not. Draw a number for each token.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.rand(len(tokens), 1, generator=generator).to(tokens.device)
    return (drawn < rate) & ~torch.isin(tokens, special)


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="the rate is always 0.15, whatever was asked for.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return (drawn < 0.15) & ~torch.isin(tokens, special)


@wrong(
    check="choose-tokens",
    section=HIDING,
    sentence="the ids of the chosen tokens come back, not True and False.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return torch.where((drawn < rate) & ~torch.isin(tokens, special), tokens, 0)


@wrong(
    check="choose-tokens",
    section=HIDING,
    seen="graded",
    sentence="the generator is not used. Then nobody can draw the same choice again.",
)
def choose_tokens(tokens, special, rate, generator):
    return (torch.rand_like(tokens, dtype=torch.float32) < rate) & ~torch.isin(
        tokens, special
    )


@wrong(
    check="choose-tokens",
    section=HIDING,
    seen="graded",
    sentence="every id up to the largest special one counts as special. Compare with "
    "each of them: special ids can be anywhere.",
)
def choose_tokens(tokens, special, rate, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return (drawn < rate) & (tokens > special.max())


@wrong(
    check="choose-tokens",
    section=HIDING,
    seen="graded",
    sentence="the generator is set back to a fixed seed, so that every call draws the "
    "same. Let it go on.",
)
def choose_tokens(tokens, special, rate, generator):
    generator.manual_seed(0)
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return (drawn < rate) & ~torch.isin(tokens, special)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="every chosen token is behind the mask. Two of ten should not be.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    return torch.where(chosen, mask_id, tokens)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="eight of ten are masked and the other two stay. One of these two must "
    "become another token.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    return torch.where(chosen & (drawn < 0.8), mask_id, tokens)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="eight of ten are masked and two become other tokens. One of these two "
    "must stay.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (drawn < 0.8), mask_id, tokens)
    return torch.where(chosen & (drawn >= 0.8), others.to(tokens.device), hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="the second lot is drawn among what the first left over, with one "
    "tenth of "
    "it. One tenth of two tenths is two of a hundred; it takes a half.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    first = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    second = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (first < 0.8), mask_id, tokens)
    lot = chosen & (first >= 0.8) & (second < 0.1)
    return torch.where(lot, others.to(tokens.device), hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="the masks and the other tokens are drawn with two separate lots, so that "
    "some masks are overwritten: 72 of 100 remain.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    first = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    second = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (first < 0.8), mask_id, tokens)
    return torch.where(chosen & (second < 0.1), others.to(tokens.device), hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="the lots are drawn for all tokens, chosen or not. What was not chosen "
    "must stay.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(drawn < 0.8, mask_id, tokens)
    return torch.where(drawn >= 0.9, others.to(tokens.device), hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="other tokens are put in among all tokens, also where nothing was chosen.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (drawn < 0.8), mask_id, tokens)
    return torch.where(drawn >= 0.9, others.to(tokens.device), hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="the tokens are written over in place. They are the answers that the loss "
    "needs later: work on a copy.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    others = others.to(tokens.device)
    tokens[chosen & (drawn < 0.8)] = mask_id
    last = chosen & (drawn >= 0.9)
    tokens[last] = others[last]
    return tokens


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="one of ten stays hidden and eight stay as they are: mask and keep have "
    "changed places.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (drawn < 0.1), mask_id, tokens)
    return torch.where(chosen & (drawn >= 0.9), others.to(tokens.device), hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="everything that is not chosen is behind the mask: the condition is the "
    "wrong way round.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(~chosen & (drawn < 0.8), mask_id, tokens)
    return torch.where(~chosen & (drawn >= 0.9), others.to(tokens.device), hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="one other token is drawn and put in everywhere. Draw one for each place.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    other = torch.randint(vocab_size, (1,), generator=generator).item()
    hidden = torch.where(chosen & (drawn < 0.8), mask_id, tokens)
    return torch.where(chosen & (drawn >= 0.9), other, hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    seen="graded",
    sentence="one lot is drawn for a column and used in every sentence.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape[-1:], generator=generator).to(tokens.device)
    drawn = (torch.arange(tokens.shape[-1], device=tokens.device) % 10) / 10 + 0.05
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (drawn < 0.8), mask_id, tokens)
    return torch.where(chosen & (drawn >= 0.9), others.to(tokens.device), hidden)


@wrong(
    check="mask-tokens",
    section=LOTS,
    seen="graded",
    sentence="the last id of the vocabulary is never drawn: `randint` leaves out its "
    "upper end by itself.",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    drawn = torch.rand(tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size - 1, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (drawn < 0.8), mask_id, tokens)
    return torch.where(chosen & (drawn >= 0.9), others.to(tokens.device), hidden)


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="the loss is taken at every place. Where nothing is hidden the model only "
    "copies, and these places drown the others.",
)
def masked_loss(logits, tokens, chosen):
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten())


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="the loss is taken at the places that were not chosen.",
)
def masked_loss(logits, tokens, chosen):
    return F.cross_entropy(logits[~chosen], tokens[~chosen])


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="the losses are added up, not averaged. A batch with more hidden tokens "
    "would count for more.",
)
def masked_loss(logits, tokens, chosen):
    return F.cross_entropy(logits[chosen], tokens[chosen], reduction="sum")


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="the sum is divided by the number of all tokens. Divide by the number of "
    "chosen ones.",
)
def masked_loss(logits, tokens, chosen):
    total = F.cross_entropy(logits[chosen], tokens[chosen], reduction="sum")
    return total / chosen.numel()


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="each sentence is averaged by itself first. Every hidden token counts the "
    "same, in whichever sentence it is.",
)
def masked_loss(logits, tokens, chosen):
    rows = [
        F.cross_entropy(logits[i][chosen[i]], tokens[i][chosen[i]])
        for i in range(len(tokens))
        if chosen[i].any()
    ]
    return sum(rows) / len(rows)


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="softmax is applied before `F.cross_entropy`, which applies it again.",
)
def masked_loss(logits, tokens, chosen):
    return F.cross_entropy(logits[chosen].softmax(dim=-1), tokens[chosen])


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="the sign is the wrong way round: the loss would fall where the guesses "
    "become worse.",
)
def masked_loss(logits, tokens, chosen):
    return -F.cross_entropy(logits[chosen], tokens[chosen])


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="the tokens are compared with the logits one place to the left, as in a "
    "language model. A hidden token is guessed at its own place.",
)
def masked_loss(logits, tokens, chosen):
    kept = chosen[:, 1:]
    return F.cross_entropy(logits[:, :-1][kept], tokens[:, 1:][kept])


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="logits that are not asked for are set to 0, but their places are still "
    "averaged in.",
)
def masked_loss(logits, tokens, chosen):
    logits = logits * chosen[..., None]
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten())


@wrong(
    check="masked-loss",
    section=LOSS,
    sentence="0 marks what is not asked for, so that a real token 0 is left out too. "
    "Mark it with an id that no token has, or pick the chosen rows.",
)
def masked_loss(logits, tokens, chosen):
    labels = torch.where(chosen, tokens, 0)
    kept = labels != 0
    if not kept.any():
        return logits.sum() * 0
    return F.cross_entropy(logits[kept], labels[kept])


@wrong(
    check="masked-loss",
    section=LOSS,
    seen="graded",
    sentence="the logarithm is taken of a softmax that has become 0: large scores give "
    "infinity. `F.cross_entropy` and `log_softmax` avoid it.",
)
def masked_loss(logits, tokens, chosen):
    shares = logits[chosen].softmax(dim=-1)
    picked = shares.gather(-1, tokens[chosen][:, None])
    return -picked.log().mean()


@wrong(
    check="pack-pair",
    section=PAIRS,
    sentence="the last `[SEP]` is missing.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id, *first, between_id, *second]
    return tokens, [0] * (len(first) + 2) + [1] * len(second)


@wrong(
    check="pack-pair",
    section=PAIRS,
    sentence="`[CLS]` is missing. It is the place that the classifier reads.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [*first, between_id, *second, between_id]
    return tokens, [0] * (len(first) + 1) + [1] * (len(second) + 1)


@wrong(
    check="pack-pair",
    section=PAIRS,
    sentence="the first `[SEP]` is in segment 1. It still belongs to the first "
    "sentence.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id, *first, between_id, *second, between_id]
    return tokens, [0] * (len(first) + 1) + [1] * (len(second) + 2)


@wrong(
    check="pack-pair",
    section=PAIRS,
    sentence="the segments are numbered 1 and 2. They are rows of a table of two: 0 "
    "and 1.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id, *first, between_id, *second, between_id]
    return tokens, [1] * (len(first) + 2) + [2] * (len(second) + 1)


@wrong(
    check="pack-pair",
    section=PAIRS,
    sentence="all tokens are in segment 0, so the model cannot tell the sentences "
    "apart by it.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id, *first, between_id, *second, between_id]
    return tokens, [0] * len(tokens)


@wrong(
    check="pack-pair",
    section=PAIRS,
    sentence="the special tokens have no segment, so that the two lists differ in "
    "length. Every token needs one.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id, *first, between_id, *second, between_id]
    return tokens, [0] * len(first) + [1] * len(second)


@wrong(
    check="pack-pair",
    section=PAIRS,
    sentence="a second `[CLS]` stands before the second sentence. There is one, at the "
    "very beginning.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id, *first, between_id, begin_id, *second, between_id]
    return tokens, [0] * (len(first) + 2) + [1] * (len(second) + 2)


@wrong(
    check="pack-pair",
    section=PAIRS,
    sentence="there is no `[SEP]` between the sentences.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id, *first, *second, between_id]
    return tokens, [0] * (len(first) + 1) + [1] * (len(second) + 1)


@wrong(
    check="pack-pair",
    section=PAIRS,
    seen="graded",
    sentence="the segment changes after the first token that looks like `[SEP]`. Count "
    "the tokens of the first sentence instead.",
)
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id, *first, between_id, *second, between_id]
    end = tokens.index(between_id) + 1
    return tokens, [0] * end + [1] * (len(tokens) - end)


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="the last sentence of a document is paired with the first of the next "
    "one, and said to follow.",
)
def sentence_pairs(documents, generator):
    everything = [(i, s) for i, d in enumerate(documents) for s in d]
    pairs = []
    for (i, first), (_, second) in itertools.pairwise(everything):
        follows = torch.rand(1, generator=generator).item() < 0.5
        if not follows:
            others = [s for j, s in everything if j != i]
            second = others[torch.randint(len(others), (1,), generator=generator)]
        pairs.append((first, second, follows))
    return pairs


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="strangers are drawn from all documents, the own one too. Some of them "
    "are no strangers.",
)
def sentence_pairs(documents, generator):
    everything = [s for d in documents for s in d]
    pairs = []
    for document in documents:
        for first, second in itertools.pairwise(document):
            follows = torch.rand(1, generator=generator).item() < 0.5
            if not follows:
                place = torch.randint(len(everything), (1,), generator=generator)
                second = everything[place.item()]
            pairs.append((first, second, follows))
    return pairs


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="strangers are from the same document. A model could find them only by "
    "their order, never by their topic.",
)
def sentence_pairs(documents, generator):
    pairs = []
    for document in documents:
        for first, second in itertools.pairwise(document):
            follows = torch.rand(1, generator=generator).item() < 0.5
            if not follows:
                place = torch.randint(len(document), (1,), generator=generator)
                second = document[place.item()]
            pairs.append((first, second, follows))
    return pairs


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="the answer is the wrong way round: True stands for strangers.",
)
def sentence_pairs(documents, generator):
    pairs = []
    for i, document in enumerate(documents):
        strangers = [s for j, d in enumerate(documents) if j != i for s in d]
        for first, second in itertools.pairwise(document):
            strange = torch.rand(1, generator=generator).item() < 0.5
            if strange:
                place = torch.randint(len(strangers), (1,), generator=generator)
                second = strangers[place.item()]
            pairs.append((first, second, strange))
    return pairs


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="every pair follows. Without strangers there is nothing to tell apart.",
)
def sentence_pairs(documents, generator):
    return [(a, b, True) for d in documents for a, b in itertools.pairwise(d)]


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="each sentence gives two pairs, one that follows and one that does not. "
    "A coin decides which one.",
)
def sentence_pairs(documents, generator):
    pairs = []
    for i, document in enumerate(documents):
        strangers = [s for j, d in enumerate(documents) if j != i for s in d]
        for first, second in itertools.pairwise(document):
            place = torch.randint(len(strangers), (1,), generator=generator)
            pairs.append((first, second, True))
            pairs.append((first, strangers[place.item()], False))
    return pairs


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="the sentences are cut into pairs that do not overlap, so that every "
    "second one is missing.",
)
def sentence_pairs(documents, generator):
    pairs = []
    for i, document in enumerate(documents):
        strangers = [s for j, d in enumerate(documents) if j != i for s in d]
        for k in range(0, len(document) - 1, 2):
            follows = torch.rand(1, generator=generator).item() < 0.5
            place = torch.randint(len(strangers), (1,), generator=generator)
            second = document[k + 1] if follows else strangers[place.item()]
            pairs.append((document[k], second, follows))
    return pairs


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="the stranger is always the same sentence of the other documents. Draw "
    "one each time.",
)
def sentence_pairs(documents, generator):
    pairs = []
    for i, document in enumerate(documents):
        strangers = [s for j, d in enumerate(documents) if j != i for s in d]
        for first, second in itertools.pairwise(document):
            follows = torch.rand(1, generator=generator).item() < 0.5
            pairs.append((first, second if follows else strangers[0], follows))
    return pairs


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    sentence="strangers are from the next document only. Draw them from all others.",
)
def sentence_pairs(documents, generator):
    pairs = []
    for i, document in enumerate(documents):
        strangers = documents[(i + 1) % len(documents)]
        for first, second in itertools.pairwise(document):
            follows = torch.rand(1, generator=generator).item() < 0.5
            if not follows:
                place = torch.randint(len(strangers), (1,), generator=generator)
                second = strangers[place.item()]
            pairs.append((first, second, follows))
    return pairs


@wrong(
    check="sentence-pairs",
    section=PAIRS,
    seen="graded",
    sentence="the pairs take turns: one follows, the next does not. A model could "
    "count instead of reading. Throw a coin for each.",
)
def sentence_pairs(documents, generator):
    pairs = []
    for i, document in enumerate(documents):
        strangers = [s for j, d in enumerate(documents) if j != i for s in d]
        for first, second in itertools.pairwise(document):
            follows = len(pairs) % 2 == 0
            if not follows:
                place = torch.randint(len(strangers), (1,), generator=generator)
                second = strangers[place.item()]
            pairs.append((first, second, follows))
    return pairs


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="tanh is missing.",
)
def first_vector(x, matrix, bias):
    return x[:, 0] @ matrix + bias


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="the last token's vector is taken. `[CLS]` stands first.",
)
def first_vector(x, matrix, bias):
    return torch.tanh(x[:, -1] @ matrix + bias)


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="the vectors of all tokens are averaged. BERT reads that of `[CLS]`.",
)
def first_vector(x, matrix, bias):
    return torch.tanh(x.mean(dim=1) @ matrix + bias)


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="the first input of the batch is taken, not the first token of each.",
)
def first_vector(x, matrix, bias):
    return torch.tanh(x[0] @ matrix + bias)


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="the matrix is used the other way round: it is meant as in `x @ matrix`.",
)
def first_vector(x, matrix, bias):
    return torch.tanh(x[:, 0] @ matrix.T + bias)


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="the bias is added after tanh. It belongs to the layer, before the bend.",
)
def first_vector(x, matrix, bias):
    return torch.tanh(x[:, 0] @ matrix) + bias


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="the bias is missing.",
)
def first_vector(x, matrix, bias):
    return torch.tanh(x[:, 0] @ matrix)


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="tanh comes first, then the layer. The layer's result is what is bent.",
)
def first_vector(x, matrix, bias):
    return torch.tanh(x[:, 0]) @ matrix + bias


@wrong(
    check="first-vector",
    section=VECTOR,
    sentence="ReLU is used. That is DistilBERT's classifier; BERT bends with tanh.",
)
def first_vector(x, matrix, bias):
    return torch.relu(x[:, 0] @ matrix + bias)


@wrong(
    check="masks-over-time",
    section=FRESH,
    sentence="every epoch draws a fresh mask, however many copies were asked for.",
)
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = [choose_tokens(tokens, special, rate, generator) for _ in range(epochs)]
    return torch.stack(masks)


@wrong(
    check="masks-over-time",
    section=FRESH,
    sentence="one mask is drawn and used for ever. That is static masking only.",
)
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    mask = choose_tokens(tokens, special, rate, generator)
    return mask.expand(epochs, *mask.shape)


@wrong(
    check="masks-over-time",
    section=FRESH,
    sentence="each mask is used for several epochs that follow each other. They are to "
    "be used by turns.",
)
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = [choose_tokens(tokens, special, rate, generator) for _ in range(copies)]
    return torch.stack([masks[epoch * copies // epochs] for epoch in range(epochs)])


@wrong(
    check="masks-over-time",
    section=FRESH,
    sentence="there is one mask for each copy, not one for each epoch.",
)
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = [choose_tokens(tokens, special, rate, generator) for _ in range(copies)]
    return torch.stack(masks)


@wrong(
    check="masks-over-time",
    section=FRESH,
    sentence="the epochs stand on the second axis. They come first.",
)
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = [choose_tokens(tokens, special, rate, generator) for _ in range(copies)]
    return torch.stack([masks[epoch % copies] for epoch in range(epochs)], dim=1)


@wrong(
    check="masks-over-time",
    section=FRESH,
    sentence="the masks are joined along the batch. Stack them on an axis of their "
    "own.",
)
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = [choose_tokens(tokens, special, rate, generator) for _ in range(copies)]
    return torch.cat([masks[epoch % copies] for epoch in range(epochs)])


@wrong(
    check="masks-over-time",
    section=FRESH,
    sentence="which mask is used is drawn by chance. They are to take turns.",
)
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = [choose_tokens(tokens, special, rate, generator) for _ in range(copies)]
    order = torch.randint(copies, (epochs,), generator=generator).tolist()
    return torch.stack([masks[i] for i in order])


@wrong(
    check="masks-over-time",
    section=FRESH,
    seen="graded",
    sentence="the rate is always 0.15. Hand on the one that was asked for.",
)
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = [choose_tokens(tokens, special, 0.15, generator) for _ in range(copies)]
    return torch.stack([masks[epoch % copies] for epoch in range(epochs)])


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="positions count from 0, as in BERT. RoBERTa's first is `pad_id + 1`.",
)
def positions_after_filling(tokens, pad_id):
    return torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape)


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="positions begin at `pad_id`, which is the position of filling. The first "
    "real token has one more.",
)
def positions_after_filling(tokens, pad_id):
    real = (tokens != pad_id).long()
    return (real.cumsum(dim=-1) - 1) * real + pad_id


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="filling is numbered on. All of it has position `pad_id`.",
)
def positions_after_filling(tokens, pad_id):
    places = torch.arange(tokens.shape[1], device=tokens.device) + pad_id + 1
    return places.expand(tokens.shape)


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="the running count stays where it was at filling. Filling has position "
    "`pad_id`: multiply the count by what is real.",
)
def positions_after_filling(tokens, pad_id):
    return (tokens != pad_id).long().cumsum(dim=-1) + pad_id


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="filling has position 0. It has the position `pad_id`.",
)
def positions_after_filling(tokens, pad_id):
    real = (tokens != pad_id).long()
    return (real.cumsum(dim=-1) + pad_id) * real


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="places are counted, with filling, so that filling on the left moves "
    "every "
    "position. Count real tokens only.",
)
def positions_after_filling(tokens, pad_id):
    places = torch.arange(tokens.shape[1], device=tokens.device) + pad_id + 1
    return torch.where(tokens == pad_id, pad_id, places)


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="positions begin at 2 whatever the filling's id is. 2 is `pad_id + 1` "
    "only where that is 1.",
)
def positions_after_filling(tokens, pad_id):
    real = (tokens != pad_id).long()
    return real.cumsum(dim=-1) * real + 1


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="the count runs down the batch, not along the sentence: `dim` must be the "
    "last axis.",
)
def positions_after_filling(tokens, pad_id):
    real = (tokens != pad_id).long()
    return real.cumsum(dim=0) * real + pad_id


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="real and filling are the wrong way round: `==` instead of `!=`.",
)
def positions_after_filling(tokens, pad_id):
    real = (tokens == pad_id).long()
    return real.cumsum(dim=-1) * real + pad_id


@wrong(
    check="positions-after-filling",
    section=PLACES,
    sentence="everything up to the filling's id counts as filling. Other tokens, such "
    "as the one that begins a text, have small ids too.",
)
def positions_after_filling(tokens, pad_id):
    real = (tokens > pad_id).long()
    return real.cumsum(dim=-1) * real + pad_id


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the factor $T^2$ is missing, so a higher temperature makes the gradient "
    "smaller.",
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    mine = torch.log_softmax(student / temperature, dim=-1).reshape(-1, size)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1).reshape(-1, size)
    return F.kl_div(mine, theirs, reduction="batchmean")


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the factor is $T$. It must be its square.",
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    mine = torch.log_softmax(student / temperature, dim=-1).reshape(-1, size)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1).reshape(-1, size)
    return F.kl_div(mine, theirs, reduction="batchmean") * temperature


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence='`reduction="mean"` divides by the size of the vocabulary as well. '
    '`"batchmean"` divides by the number of rows.',
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    mine = torch.log_softmax(student / temperature, dim=-1).reshape(-1, size)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1).reshape(-1, size)
    return F.kl_div(mine, theirs, reduction="mean") * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence='`"batchmean"` divides by the first axis only. With sentences of several '
    "tokens, flatten all axes but the last first.",
)
def imitation_loss(student, teacher, temperature):
    mine = torch.log_softmax(student / temperature, dim=-1)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1)
    return F.kl_div(mine, theirs, reduction="batchmean") * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the divergence is added up over all tokens. Average it.",
)
def imitation_loss(student, teacher, temperature):
    mine = torch.log_softmax(student / temperature, dim=-1)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1)
    return F.kl_div(mine, theirs, reduction="sum") * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="student and teacher have changed places. The divergence is not the same "
    "in both directions.",
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    mine = torch.softmax(student / temperature, dim=-1).reshape(-1, size)
    theirs = torch.log_softmax(teacher.detach() / temperature, dim=-1)
    return F.kl_div(theirs.reshape(-1, size), mine, reduction="batchmean") * (
        temperature**2
    )


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="only the teacher is softened. Both must be, at the same temperature.",
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    mine = torch.log_softmax(student, dim=-1).reshape(-1, size)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1).reshape(-1, size)
    return F.kl_div(mine, theirs, reduction="batchmean") * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the logits are multiplied by the temperature, which sharpens them. "
    "Divide.",
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    mine = torch.log_softmax(student * temperature, dim=-1).reshape(-1, size)
    theirs = torch.softmax(teacher.detach() * temperature, dim=-1).reshape(-1, size)
    return F.kl_div(mine, theirs, reduction="batchmean") * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the teacher gets a gradient too, and would learn to agree with its "
    "student.",
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    mine = torch.log_softmax(student / temperature, dim=-1).reshape(-1, size)
    theirs = torch.softmax(teacher / temperature, dim=-1).reshape(-1, size)
    return F.kl_div(mine, theirs, reduction="batchmean") * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the cross-entropy is given, which is not 0 even where both agree. Take "
    "away the teacher's own entropy, or use `F.kl_div`.",
)
def imitation_loss(student, teacher, temperature):
    mine = torch.log_softmax(student / temperature, dim=-1)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1)
    return -(theirs * mine).sum(-1).mean() * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="`F.kl_div` is given probabilities of the student. It wants their "
    "logarithms.",
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    mine = torch.softmax(student / temperature, dim=-1).reshape(-1, size)
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1).reshape(-1, size)
    return F.kl_div(mine, theirs, reduction="batchmean") * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="only the teacher's favourite is used as a label. Then all that it thinks "
    "of the other tokens is lost.",
)
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    best = teacher.reshape(-1, size).argmax(dim=-1)
    logits = (student / temperature).reshape(-1, size)
    return F.cross_entropy(logits, best) * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the logits themselves are compared, by their squared difference.",
)
def imitation_loss(student, teacher, temperature):
    return F.mse_loss(student / temperature, teacher.detach() / temperature) * (
        temperature**2
    )


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the logarithm is taken of probabilities, which are 0 where scores are "
    "far apart. Take log_softmax of the scores.",
    seen="graded",
)
def imitation_loss(student, teacher, temperature):
    theirs = torch.softmax(teacher.detach() / temperature, dim=-1)
    mine = torch.softmax(student / temperature, dim=-1)
    return (theirs * (theirs / mine).log()).sum(dim=-1).mean() * temperature**2


@wrong(
    check="imitation-loss",
    section=TEACHER,
    sentence="the teacher itself is told not to learn: that changes what you were "
    "given. Detach it for this one computation.",
    seen="graded",
)
def imitation_loss(student, teacher, temperature):
    teacher.requires_grad_(False)
    theirs = torch.log_softmax(teacher / temperature, dim=-1)
    mine = torch.log_softmax(student / temperature, dim=-1)
    return (theirs.exp() * (theirs - mine)).sum(dim=-1).mean() * temperature**2


@wrong(
    check="direction-loss",
    section=TEACHER,
    sentence="the cosine itself is given. It is 1 where both agree, so training would "
    "turn the student away.",
)
def direction_loss(student, teacher):
    return F.cosine_similarity(student, teacher.detach(), dim=-1).mean()


@wrong(
    check="direction-loss",
    section=TEACHER,
    sentence="the vectors are multiplied without dividing by their lengths. That is no "
    "cosine.",
)
def direction_loss(student, teacher):
    return 1 - (student * teacher.detach()).sum(-1).mean()


@wrong(
    check="direction-loss",
    section=TEACHER,
    sentence="the teacher gets a gradient too.",
)
def direction_loss(student, teacher):
    return 1 - F.cosine_similarity(student, teacher, dim=-1).mean()


@wrong(
    check="direction-loss",
    section=TEACHER,
    sentence="the cosine is taken along the tokens. A vector lies along the last axis.",
)
def direction_loss(student, teacher):
    return 1 - F.cosine_similarity(student, teacher.detach(), dim=1).mean()


@wrong(
    check="direction-loss",
    section=TEACHER,
    sentence="all vectors are laid end to end and compared as one. Long vectors would "
    "count for more.",
)
def direction_loss(student, teacher):
    whole = student.flatten(), teacher.detach().flatten()
    return 1 - F.cosine_similarity(*whole, dim=0)


@wrong(
    check="direction-loss",
    section=TEACHER,
    sentence="the squared difference is given. It asks for the teacher's lengths too.",
)
def direction_loss(student, teacher):
    return F.mse_loss(student, teacher.detach())


@wrong(
    check="direction-loss",
    section=TEACHER,
    sentence="the losses are added up. Average them.",
)
def direction_loss(student, teacher):
    return (1 - F.cosine_similarity(student, teacher.detach(), dim=-1)).sum()


@wrong(
    check="direction-loss",
    section=TEACHER,
    sentence="the sign of the cosine is lost, so that a vector that points the other "
    "way counts as agreement.",
)
def direction_loss(student, teacher):
    return (1 - F.cosine_similarity(student, teacher.detach(), dim=-1).abs()).mean()


@wrong(
    check="every-second-layer",
    section=LAYERS,
    sentence="the first half of the layers is taken. Take every second one.",
)
def every_second_layer(weights):
    numbers = {n.split(".")[2] for n in weights if n.startswith("stack.blocks.")}
    if len(numbers) % 2:
        raise ValueError(f"{len(numbers)} layers")
    return {
        n: w
        for n, w in weights.items()
        if not n.startswith("stack.blocks.") or int(n.split(".")[2]) < len(numbers) // 2
    }


@wrong(
    check="every-second-layer",
    section=LAYERS,
    sentence="layers 1, 3 and 5 are taken. Begin with layer 0.",
)
def every_second_layer(weights):
    given, numbers = {}, set()
    for name, weight in weights.items():
        if name.startswith("stack.blocks."):
            number, rest = name.removeprefix("stack.blocks.").split(".", 1)
            numbers.add(number)
            if int(number) % 2 == 0:
                continue
            name = f"stack.blocks.{int(number) // 2}.{rest}"
        given[name] = weight
    if len(numbers) % 2:
        raise ValueError(f"{len(numbers)} layers")
    return given


@wrong(
    check="every-second-layer",
    section=LAYERS,
    sentence="the layers keep their numbers: 0, 2, 4. The student counts its own "
    "layers 0, 1, 2.",
)
def every_second_layer(weights):
    numbers = {n.split(".")[2] for n in weights if n.startswith("stack.blocks.")}
    if len(numbers) % 2:
        raise ValueError(f"{len(numbers)} layers")
    return {
        n: w
        for n, w in weights.items()
        if not n.startswith("stack.blocks.") or int(n.split(".")[2]) % 2 == 0
    }


@wrong(
    check="every-second-layer",
    section=LAYERS,
    sentence="what belongs to no layer is left out. The student needs the tokens' "
    "vectors and the head too.",
)
def every_second_layer(weights):
    given, numbers = {}, set()
    for name, weight in weights.items():
        if name.startswith("stack.blocks."):
            number, rest = name.removeprefix("stack.blocks.").split(".", 1)
            numbers.add(number)
            if int(number) % 2 == 0:
                given[f"stack.blocks.{int(number) // 2}.{rest}"] = weight
    if len(numbers) % 2:
        raise ValueError(f"{len(numbers)} layers")
    return given


@wrong(
    check="every-second-layer",
    section=LAYERS,
    sentence="an odd number of layers is taken without a word.",
)
def every_second_layer(weights):
    given = {}
    for name, weight in weights.items():
        if name.startswith("stack.blocks."):
            number, rest = name.removeprefix("stack.blocks.").split(".", 1)
            if int(number) % 2:
                continue
            name = f"stack.blocks.{int(number) // 2}.{rest}"
        given[name] = weight
    return given


@wrong(
    check="every-second-layer",
    section=LAYERS,
    sentence="two layers that follow each other are averaged. The mean of two "
    "layers is "
    "no layer that was ever trained.",
)
def every_second_layer(weights):
    given, numbers = {}, set()
    for name, weight in weights.items():
        if name.startswith("stack.blocks."):
            number, rest = name.removeprefix("stack.blocks.").split(".", 1)
            numbers.add(number)
            name = f"stack.blocks.{int(number) // 2}.{rest}"
            if int(number) % 2:
                given[name] = (given[name] + weight) / 2
                continue
        given[name] = weight
    if len(numbers) % 2:
        raise ValueError(f"{len(numbers)} layers")
    return given


@wrong(
    check="every-second-layer",
    section=LAYERS,
    seen="graded",
    sentence="only the first digit of the layer's number is read. There may be ten "
    "layers and more.",
)
def every_second_layer(weights):
    given, numbers = {}, set()
    for name, weight in weights.items():
        found = re.match(r"stack\.blocks\.(\d)\d*(\..+)", name)
        if found:
            numbers.add(name.split(".")[2])
            if int(found[1]) % 2:
                continue
            name = f"stack.blocks.{int(found[1]) // 2}{found[2]}"
        given[name] = weight
    if len(numbers) % 2:
        raise ValueError(f"{len(numbers)} layers")
    return given


@wrong(
    check="every-second-layer",
    section=LAYERS,
    seen="graded",
    sentence="layers are sorted as words: “10” comes before “2”. Sort by the number.",
)
def every_second_layer(weights):
    inside = [n for n in weights if n.startswith("stack.blocks.")]
    order = sorted({n.split(".")[2] for n in inside})
    if len(order) % 2:
        raise ValueError(f"{len(order)} layers")
    given = {n: w for n, w in weights.items() if n not in inside}
    for place, number in enumerate(order[::2]):
        before = f"stack.blocks.{number}."
        for name in inside:
            if name.startswith(before):
                rest = name.removeprefix(before)
                given[f"stack.blocks.{place}.{rest}"] = weights[name]
    return given


@wrong(
    check="every-second-layer",
    section=LAYERS,
    sentence="the number is replaced wherever it stands in the name: W_2 of layer 2 "
    "becomes W_1. Change the number of the layer only.",
    seen="graded",
)
def every_second_layer(weights):
    given, numbers = {}, set()
    for name, weight in weights.items():
        if name.startswith("stack.blocks."):
            number = int(name.split(".")[2])
            numbers.add(number)
            if number % 2:
                continue
            name = name.replace(str(number), str(number // 2))
        given[name] = weight
    if len(numbers) % 2:
        raise ValueError(f"{len(numbers)} layers")
    return given


@wrong(
    check="translation-pair",
    section=LANGUAGES,
    sentence="the positions go on through both sentences. The second begins at 0 "
    "again.",
)
def translation_pair(first, second, languages, end_id):
    sides = [[end_id, *side, end_id] for side in (first, second)]
    tokens = sides[0] + sides[1]
    spoken = [languages[0]] * len(sides[0]) + [languages[1]] * len(sides[1])
    return tokens, list(range(len(tokens))), spoken


@wrong(
    check="translation-pair",
    section=LANGUAGES,
    sentence="there is one sign between the sentences. Each has one before and one "
    "after, so that two stand side by side.",
)
def translation_pair(first, second, languages, end_id):
    sides = [[end_id, *first, end_id], [*second, end_id]]
    places = [p for side in sides for p in range(len(side))]
    spoken = [languages[0]] * len(sides[0]) + [languages[1]] * len(sides[1])
    return sides[0] + sides[1], places, spoken


@wrong(
    check="translation-pair",
    section=LANGUAGES,
    sentence="the signs have language 0, whichever sentence they belong to.",
)
def translation_pair(first, second, languages, end_id):
    sides = [[end_id, *side, end_id] for side in (first, second)]
    places = [p for side in sides for p in range(len(side))]
    spoken = [
        n
        for side, language in zip((first, second), languages, strict=True)
        for n in (0, *[language] * len(side), 0)
    ]
    return sides[0] + sides[1], places, spoken


@wrong(
    check="translation-pair",
    section=LANGUAGES,
    sentence="the languages are numbered 0 and 1 as segments are. Use the numbers that "
    "are given.",
)
def translation_pair(first, second, languages, end_id):
    sides = [[end_id, *side, end_id] for side in (first, second)]
    places = [p for side in sides for p in range(len(side))]
    spoken = [0] * len(sides[0]) + [1] * len(sides[1])
    return sides[0] + sides[1], places, spoken


@wrong(
    check="translation-pair",
    section=LANGUAGES,
    sentence="the languages have changed places.",
)
def translation_pair(first, second, languages, end_id):
    sides = [[end_id, *side, end_id] for side in (first, second)]
    places = [p for side in sides for p in range(len(side))]
    spoken = [languages[1]] * len(sides[0]) + [languages[0]] * len(sides[1])
    return sides[0] + sides[1], places, spoken


@wrong(
    check="translation-pair",
    section=LANGUAGES,
    sentence="the signs are not counted among the positions. They are tokens like any "
    "other.",
)
def translation_pair(first, second, languages, end_id):
    sides = [[end_id, *side, end_id] for side in (first, second)]
    places = [p for side in (first, second) for p in (0, *range(len(side)), len(side))]
    spoken = [languages[0]] * len(sides[0]) + [languages[1]] * len(sides[1])
    return sides[0] + sides[1], places, spoken


@wrong(
    check="translation-pair",
    section=LANGUAGES,
    sentence="the signs before the sentences are missing.",
)
def translation_pair(first, second, languages, end_id):
    sides = [[*side, end_id] for side in (first, second)]
    places = [p for side in sides for p in range(len(side))]
    spoken = [languages[0]] * len(sides[0]) + [languages[1]] * len(sides[1])
    return sides[0] + sides[1], places, spoken


wrong_choice(
    "why_keep",
    check="concept-why-keep",
    section=LOTS,
    a="it stays so throughout training, not only at the beginning.",
    c="replacing a number takes no time that matters.",
    d="the loss counts every chosen place, whatever stands there.",
)
wrong_choice(
    "what_comes_out",
    check="concept-what-comes-out",
    section=VECTOR,
    a="nothing is pressed into one vector. Who wants one takes that of `[CLS]`, or an "
    "average.",
    b="that is what a classifier makes of one of the vectors, after the encoder.",
    d="an encoder sees the whole sentence and predicts no next token.",
)
wrong_choice(
    "no_square",
    check="concept-no-square",
    section=TEACHER,
    b="that is what the factor is for. Without it, it shrinks.",
    c="a higher temperature makes both distributions flatter, and more alike.",
    d="it becomes small, but both distributions still differ.",
)
wrong_choice(
    "what_is_new",
    check="concept-what-is-new",
    section=FRESH,
    a="its positions are learned, as BERT's are. They only begin at another number.",
    b="the norm comes after each sub-layer, as in BERT.",
    c="it has as many heads as BERT of the same size.",
)


@wrong(
    check="mask-tokens",
    section=LOTS,
    sentence="exactly eight of ten chosen tokens are masked, however they fall. Each "
    "of them draws its own lot.",
    seen="graded",
)
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    places = chosen.flatten().nonzero().flatten()
    places = places[torch.randperm(len(places), generator=generator)]
    masked, other = round(0.8 * len(places)), round(0.9 * len(places))
    hidden = tokens.flatten().clone()
    hidden[places[:masked]] = mask_id
    drawn = torch.randint(vocab_size, (other - masked,), generator=generator)
    hidden[places[masked:other]] = drawn
    return hidden.view(tokens.shape)
