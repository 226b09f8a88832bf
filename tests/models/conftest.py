"""Tiny models of the reference library, with every number drawn at random."""

import pytest
import torch

from solutions.parity import TWINS, make_pair

pytest.importorskip("transformers")


@pytest.fixture(scope="module", params=TWINS)
def pair(request):
    """Give a name, the reference's model, and ours with the same weights."""
    torch.set_num_threads(1)
    return request.param, *make_pair(request.param)
