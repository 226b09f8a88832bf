"""The numbers the browser computes are those of torch."""

import json
import math
import shutil
import subprocess

import pytest
import torch

from book.visuals import STATIC

ARITHMETIC = STATIC.parent / "visuals" / "attention-arithmetic.js"

PROGRAM = f"""
import {{ readFileSync }} from "node:fs";
import {{ attentionScores, softmax, weightedSum }}
  from {json.dumps(ARITHMETIC.as_uri())};
const {{ products, d_k, values, settings }} = JSON.parse(readFileSync(0, "utf8"));
const weights = attentionScores(products, d_k, settings).map(softmax);
const output = weights.map((row) => weightedSum(row, values).output);
console.log(JSON.stringify({{ weights, output }}));
"""


def run_in_node(products, d_k, values, settings):
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed, so the arithmetic cannot be run.")
    question = {
        "products": products.tolist(),
        "d_k": d_k,
        "values": values.tolist(),
        "settings": settings,
    }
    answer = subprocess.run(
        [node, "--input-type=module", "--eval", PROGRAM],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return {name: torch.tensor(x) for name, x in json.loads(answer.stdout).items()}


@pytest.mark.parametrize("temperature", [0.125, 1.0, 8.0])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_weights_and_outputs_are_those_of_torch(scaled, causal, temperature):
    generator = torch.Generator().manual_seed(7)
    seq_len, d_k = 6, 8
    queries, keys = torch.randn(2, seq_len, d_k, generator=generator)
    values = torch.randn(seq_len, 3, generator=generator)
    later = torch.ones(seq_len, seq_len).triu(diagonal=1).bool()
    products = queries @ keys.T

    scores = products / (math.sqrt(d_k) if scaled else 1.0)
    if causal:
        scores = scores.masked_fill(later, -torch.inf)
    weights = torch.softmax(scores / temperature, dim=-1)

    settings = {"scaled": scaled, "causal": causal, "temperature": temperature}
    got = run_in_node(products, d_k, values, settings)
    torch.testing.assert_close(got["weights"], weights, atol=1e-5, rtol=0)
    torch.testing.assert_close(got["output"], weights @ values, atol=1e-5, rtol=0)


def test_large_scores_do_not_overflow():
    products = torch.tensor([[1000.0, 999.0], [-1000.0, 0.0]])
    settings = {"scaled": False, "causal": False, "temperature": 1.0}
    got = run_in_node(products, 1, torch.eye(2), settings)
    expected = torch.softmax(products, dim=-1)
    torch.testing.assert_close(got["weights"], expected, atol=1e-5, rtol=0)
