"""Every family equals the reference library's own class, on the same weights."""

import pytest

from solutions.parity import (
    LIMIT,
    PADDINGS,
    WITHOUT_GRADIENTS,
    gap_of_gradients,
    gap_of_logits,
    gap_of_states,
    inputs,
    parity_rows,
)


@pytest.mark.parametrize("padding", PADDINGS)
def test_logits_and_every_hidden_state_are_equal(pair, padding):
    _, theirs, ours = pair
    given = inputs(ours, padding)
    assert gap_of_logits(theirs, ours, given) < LIMIT
    assert gap_of_states(theirs, ours, given) < LIMIT


def test_the_gradients_of_the_loss_are_equal(pair):
    name, theirs, ours = pair
    if name in WITHOUT_GRADIENTS:
        pytest.skip("in training the reference draws other blocks")
    assert gap_of_gradients(theirs, ours, inputs(ours, "right")) < LIMIT


def test_a_wrong_model_is_not_equal(pair):
    """The measure sees a change of one number in a thousand of a norm."""
    _, theirs, ours = pair
    gain = ours.stack.blocks[-1].feed_forward.norm.gain
    gain.data[3] += 0.01
    given = inputs(ours, "none")
    found = gap_of_logits(theirs, ours, given), gap_of_states(theirs, ours, given)
    gain.data[3] -= 0.01
    assert min(found) > LIMIT


def test_a_row_of_the_table():
    row = next(parity_rows())
    assert (row.family, row.kind) == ("bert", "BertForMaskedLM")
    assert 0 < max(row.logits, row.states, row.gradients) < LIMIT
