"""One thread for torch, so that tests do not crowd each other out."""

import pytest
import torch

import autograder  # noqa: F401  first: it spares nbformat a slow import


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)
