"""Right answers to chapter 11 written differently: each must get full marks."""

import re

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right
from solutions.encoders import choose_tokens


@right("a Bernoulli draw, and a loop over the special ids")
def choose_tokens(tokens, special, rate, generator):
    chances = torch.full(tokens.shape, float(rate))
    for number in special.tolist():
        chances[(tokens == number).cpu()] = 0
    return torch.bernoulli(chances, generator=generator).bool().to(tokens.device)


@right("compared with all special ids by broadcasting")
def choose_tokens(tokens, special, rate, generator):
    usual = (tokens[..., None] != special.to(tokens.device)).all(dim=-1)
    lots = torch.rand(*tokens.shape, generator=generator, dtype=torch.float64)
    return usual & (lots.to(tokens.device) > 1 - rate)


@right("exactly a share of each sentence, as BERT's own code does")
def choose_tokens(tokens, special, rate, generator):
    chosen = torch.zeros(tokens.shape, dtype=torch.bool)
    for i, row in enumerate(tokens.tolist()):
        usual = [j for j, token in enumerate(row) if token not in special.tolist()]
        order = torch.randperm(len(usual), generator=generator).tolist()
        for j in order[: round(rate * len(usual))]:
            chosen[i, usual[j]] = True
    return chosen.to(tokens.device)


@right("one lot of ten sides")
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    lots = torch.randint(10, tokens.shape, generator=generator).to(tokens.device)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    result = tokens.clone()
    result[chosen & (lots < 8)] = mask_id
    last = chosen & (lots == 8)
    result[last] = others.to(tokens.device)[last]
    return result


@right("two draws: eight of ten, then half of the others")
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    def chance(p):
        drawn = torch.bernoulli(torch.full(tokens.shape, p), generator=generator)
        return drawn.bool().to(tokens.device)

    masked = chosen & chance(0.8)
    swapped = chosen & ~masked & chance(0.5)
    others = torch.randint(vocab_size, tokens.shape, generator=generator)
    return tokens.masked_fill(masked, mask_id).where(~swapped, others.to(tokens.device))


@right("lots for the chosen places only")
def mask_tokens(tokens, chosen, mask_id, vocab_size, generator):
    old = tokens[chosen]
    lots = torch.rand(len(old), generator=generator).to(old.device)
    others = torch.randint(vocab_size, (len(old),), generator=generator)
    new = torch.where(lots < 0.1, old, torch.full_like(old, mask_id))
    new = torch.where(lots > 0.9, others.to(old.device), new)
    result = tokens.clone()
    result[chosen] = new
    return result


@right("labels of -100")
def masked_loss(logits, tokens, chosen):
    labels = tokens.masked_fill(~chosen, -100)
    return F.cross_entropy(logits.transpose(1, 2), labels)


@right("by log-softmax and gather, weighted")
def masked_loss(logits, tokens, chosen):
    spoken = torch.log_softmax(logits, dim=-1)
    spoken = spoken.gather(-1, tokens[..., None]).squeeze(-1)
    weights = chosen.to(spoken.dtype)
    return -(spoken * weights).sum() / weights.sum()


@right("every loss, then a mean of the chosen")
def masked_loss(logits, tokens, chosen):
    flat = logits.reshape(-1, logits.shape[-1])
    losses = F.cross_entropy(flat, tokens.reshape(-1), reduction="none")
    return losses[chosen.reshape(-1)].mean()


@right("appended step by step")
def pack_pair(first, second, begin_id, between_id):
    tokens, segments = [begin_id], [0]
    for number, sentence in enumerate((first, second)):
        for token in (*sentence, between_id):
            tokens.append(token)
            segments.append(number)
    return tokens, segments


@right("joined with plus, segments by place")
def pack_pair(first, second, begin_id, between_id):
    tokens = [begin_id]
    tokens += first
    tokens.append(between_id)
    tokens += second
    tokens.append(between_id)
    return [tokens, [int(i > len(first) + 1) for i in range(len(tokens))]]


@right("by indices, drawing a document first")
def sentence_pairs(documents, generator):
    def draw(below):
        return int(torch.randint(below, (1,), generator=generator))

    pairs = []
    for i in range(len(documents)):
        others = documents[:i] + documents[i + 1 :]
        for k in range(len(documents[i]) - 1):
            if draw(2):
                pairs.append((documents[i][k], documents[i][k + 1], True))
            else:
                other = others[draw(len(others))]
                pairs.append((documents[i][k], other[draw(len(other))], False))
    return pairs


@right("all coins at once, drawing again until it is a stranger")
def sentence_pairs(documents, generator):
    owned = [(i, s) for i, d in enumerate(documents) for s in d]
    firsts = [
        (i, d[k], d[k + 1]) for i, d in enumerate(documents) for k in range(len(d) - 1)
    ]
    coins = (torch.rand(len(firsts), generator=generator) >= 0.5).tolist()
    pairs = []
    for (i, first, second), follows in zip(firsts, coins, strict=True):
        owner = i
        while not follows and owner == i:
            place = int(torch.randint(len(owned), (1,), generator=generator))
            owner, second = owned[place]
        pairs.append([first, second, follows])
    return pairs


@right("a linear layer of PyTorch")
def first_vector(x, matrix, bias):
    return F.linear(x[:, 0, :], matrix.T, bias).tanh()


@right("einsum, every token projected first")
def first_vector(x, matrix, bias):
    return (torch.einsum("bsd,de->bse", x, matrix) + bias)[:, 0].tanh()


@right("addmm, and tanh from the logistic function")
def first_vector(x, matrix, bias):
    z = torch.addmm(bias, x.select(1, 0), matrix)
    return 2 * torch.sigmoid(2 * z) - 1


@right("drawn when first needed")
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = []
    for epoch in range(epochs):
        if epoch < copies:
            masks.append(choose_tokens(tokens, special, rate, generator))
        else:
            masks.append(masks[epoch - copies])
    return torch.stack(masks)


@right("stacked once and indexed")
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    masks = torch.stack(
        [choose_tokens(tokens, special, rate, generator) for _ in range(copies)]
    )
    return masks[torch.arange(epochs) % copies]


@right("one large draw for all copies")
def masks_over_time(tokens, special, rate, epochs, copies, generator):
    many = tokens.expand(copies, *tokens.shape)
    masks = choose_tokens(many, special, rate, generator)
    turns = -(-epochs // copies)
    return masks.repeat(turns, 1, 1)[:epochs]


@right("with where")
def positions_after_filling(tokens, pad_id):
    real = tokens.ne(pad_id)
    return torch.where(real, real.cumsum(-1) + pad_id, pad_id)


@right("counted in a loop")
def positions_after_filling(tokens, pad_id):
    rows = []
    for row in tokens.tolist():
        count, places = pad_id, []
        for token in row:
            count += token != pad_id
            places.append(count if token != pad_id else pad_id)
        rows.append(places)
    return torch.tensor(rows, device=tokens.device)


@right("filled at filling, in 32 bits")
def positions_after_filling(tokens, pad_id):
    filling = tokens == pad_id
    counted = torch.cumsum((~filling).int(), dim=1, dtype=torch.int32) + pad_id
    return counted.masked_fill(filling, pad_id)


@right("the formula, with logarithms of both")
def imitation_loss(student, teacher, temperature):
    with torch.no_grad():
        log_p = F.log_softmax(teacher / temperature, dim=-1)
    log_q = F.log_softmax(student / temperature, dim=-1)
    each = (log_p.exp() * (log_p - log_q)).sum(dim=-1)
    return each.mean() * temperature * temperature


@right("both in logarithms, summed and divided")
def imitation_loss(student, teacher, temperature):
    log_p = (teacher / temperature).log_softmax(-1).detach()
    log_q = (student / temperature).log_softmax(-1)
    total = F.kl_div(log_q, log_p, reduction="sum", log_target=True)
    return total / (student.numel() / student.shape[-1]) * temperature**2


@right("cross-entropy less the teacher's entropy")
def imitation_loss(student, teacher, temperature):
    size = student.shape[-1]
    p = (teacher.detach() / temperature).softmax(-1).reshape(-1, size)
    mine = F.cross_entropy(student.reshape(-1, size) / temperature, p)
    theirs = F.cross_entropy(teacher.detach().reshape(-1, size) / temperature, p)
    return (mine - theirs) * temperature**2


@right("normalised, then multiplied")
def direction_loss(student, teacher):
    teacher = teacher.detach()
    mine, theirs = F.normalize(student, dim=-1), F.normalize(teacher, dim=-1)
    return 1 - torch.einsum("...d,...d->...", mine, theirs).mean()


@right("PyTorch's own loss")
def direction_loss(student, teacher):
    size = student.shape[-1]
    mine, theirs = student.reshape(-1, size), teacher.detach().reshape(-1, size)
    agree = torch.ones(len(mine), dtype=mine.dtype, device=mine.device)
    return nn.CosineEmbeddingLoss()(mine, theirs, agree)


@right("half the squared distance of unit vectors")
def direction_loss(student, teacher):
    theirs = teacher.detach() / teacher.detach().norm(dim=-1, keepdim=True)
    mine = student / student.norm(dim=-1, keepdim=True)
    return ((mine - theirs) ** 2).sum(-1).mean() / 2


@right("parts of the name")
def every_second_layer(weights):
    given, depth = {}, 0
    for name, weight in weights.items():
        parts = name.split(".")
        if parts[:2] == ["stack", "blocks"]:
            number = int(parts[2])
            depth = max(depth, number + 1)
            if number % 2 == 0:
                parts[2] = str(number // 2)
                given[".".join(parts)] = weight.clone()
        else:
            given[name] = weight.clone()
    if depth % 2 != 0:
        raise ValueError("The teacher needs an even number of layers.")
    return given


@right("layer by layer, by what names begin with")
def every_second_layer(weights):
    before = "stack.blocks."
    given = {n: w for n, w in weights.items() if not n.startswith(before)}
    layer = 0
    while any(n.startswith(f"{before}{layer}.") for n in weights):
        old, new = f"{before}{layer}.", f"{before}{layer // 2}."
        if layer % 2 == 0:
            for name in weights:
                if name.startswith(old):
                    given[new + name[len(old) :]] = weights[name]
        layer += 1
    if layer % 2:
        raise ValueError(f"{layer} is odd")
    return given


@right("a regular expression and a dictionary")
def every_second_layer(weights):
    pattern = re.compile(r"^stack\.blocks\.(\d+)\.")
    numbers = {n: int(m[1]) for n in weights if (m := pattern.match(n))}
    if len(set(numbers.values())) & 1:
        raise ValueError("odd")
    kept = {n: w for n, w in weights.items() if numbers.get(n, 0) % 2 == 0}
    return {
        pattern.sub(lambda m: f"stack.blocks.{int(m[1]) // 2}.", n): w
        for n, w in kept.items()
    }


@right("written out")
def translation_pair(first, second, languages, end_id):
    tokens = [end_id, *first, end_id, end_id, *second, end_id]
    n, m = len(first) + 2, len(second) + 2
    places = list(range(n)) + list(range(m))
    return tokens, places, [languages[0]] * n + [languages[1]] * m


@right("appended token by token")
def translation_pair(first, second, languages, end_id):
    tokens, places, spoken = [], [], []
    for sentence, language in ((first, languages[0]), (second, languages[1])):
        for place, token in enumerate((end_id, *sentence, end_id)):
            tokens.append(token)
            places.append(place)
            spoken.append(language)
    return tokens, places, spoken
