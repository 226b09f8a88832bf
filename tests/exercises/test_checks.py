"""The check library: what it says, and what it accepts."""

import pytest
import torch
from torch import nn

from exercises import checks
from exercises.checks import Check, CheckFailed, Mismatch, numbers, same


def told(actual, expected, **more):
    with pytest.raises(Mismatch) as caught:
        same(actual, expected, **more)
    return str(caught.value)


def test_shape_is_told_before_values():
    text = told(torch.zeros(2, 3), torch.ones(3, 2))
    assert text == "shape: expected (3, 2), got (2, 3)"


def test_nan_is_told_and_values_are_not_compared():
    actual = torch.tensor([1.0, float("nan")])
    assert told(actual, torch.ones(2)) == "values: 1 of 2 are NaN or infinite"


def test_the_worst_value_is_named():
    text = told(torch.tensor([1.0, 2.0, 9.0]), torch.tensor([1.0, 3.0, 3.0]))
    assert "at [2] expected 3, got 9 (2 of 3 differ, by at most 6)" in text


def test_nothing_returned_is_told():
    assert "is a `return` missing?" in told(None, torch.ones(1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.int64])
def test_a_narrower_dtype_is_refused(dtype):
    assert "dtype" in told(torch.ones(2, dtype=dtype), torch.ones(2))


def test_a_wider_dtype_is_accepted():
    same(torch.ones(2, dtype=torch.float64), torch.ones(2))


def test_lists_and_tuples_are_compared_item_by_item():
    same([torch.ones(1), 2.0], (torch.ones(1), 2.0))
    text = told([torch.ones(1), 3.0], (torch.ones(1), 2.0))
    assert text.startswith("result 2, ")
    assert "expected 2 results, got 1" in told([1], (1, 2))


def test_a_subclass_that_is_equal_to_everything_is_seen_through():
    class Liar(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            result = super().__torch_function__(func, types, args, kwargs or {})
            return True if func in {torch.allclose, torch.equal} else result

    assert "values" in told(torch.zeros(2).as_subclass(Liar), torch.ones(2))


def test_every_failing_property_is_reported(capsys):
    check = Check("two")
    with check("one"):
        same(1, 2)
    with check("two"):
        raise ValueError("no")
    with check("three"):
        same(3, 3)
    with pytest.raises(CheckFailed, match="two: 2 of 3 properties fail"):
        check.report()
    shown = capsys.readouterr().out
    assert "expected 2, got 1" in shown
    assert "ValueError: no" in shown
    assert "yes  three" in shown


def test_hidden_properties_show_their_label_only(capsys):
    check = Check("secret")
    with check.hidden("other sizes"):
        same(torch.tensor(41.5), torch.tensor(12.25))
    with pytest.raises(CheckFailed):
        check.report()
    shown = capsys.readouterr().out
    assert "other sizes (a hidden property)" in shown
    assert "41.5" not in shown and "12.25" not in shown


def test_an_error_names_the_learners_line():
    def piece(x):
        return x @ torch.ones(7, 7)

    check = Check("place")
    with check("runs"):
        piece(torch.ones(2, 3))
    assert (
        "in piece, line 2: return x @ torch.ones(7, 7)"
        in (check.properties[0]["message"])
    )


def test_exit_inside_an_answer_does_not_end_the_check():
    check = Check("leaves")
    with check("stays"):
        raise SystemExit
    assert check.properties[0]["passed"] is False


def test_unchanged_names_the_input():
    def piece(a, b):
        b += 1
        return a

    with pytest.raises(Mismatch, match="input 2 was changed in place"):
        checks.unchanged(piece, torch.ones(1), torch.ones(1))


def test_gradient_asks_for_one():
    with pytest.raises(Mismatch, match="no gradient reaches input 1"):
        checks.gradient(lambda x: x.detach() * 2, torch.ones(3))
    found = checks.gradient(lambda x: 3 * x, torch.ones(3))
    torch.testing.assert_close(found, 3 * numbers(3, seed=99))


class Twice(nn.Module):
    """Two matrices, one behind the other; the first may be cut off from the graph."""

    def __init__(self, cut=False):
        super().__init__()
        self.first, self.second = nn.Linear(3, 2, bias=False), nn.Linear(2, 2)
        self.cut = cut

    def forward(self, x):
        between = self.first(x)
        return self.second(between.detach() if self.cut else between), None


def test_gradients_are_held_against_small_steps():
    x, names = numbers(4, 3, dtype=torch.float64), ["first.weight", "second.bias"]
    told, measured = checks.told_and_measured(Twice().double(), x, by=names)
    same(told, measured, 1e-6)
    told, measured = checks.told_and_measured(Twice(cut=True).double(), x, by=names)
    same(told[1], measured[1], 1e-6)
    assert told[0] == 0 and measured[0].abs() > 0.01


def test_what_does_not_learn_is_named():
    checks.learns(Twice(), numbers(4, 3))
    with pytest.raises(Mismatch, match=r"no finite gradient reaches first\.weight"):
        checks.learns(Twice(cut=True), numbers(4, 3))
    spoilt = Twice()
    nn.init.constant_(spoilt.second.weight, torch.nan)
    with pytest.raises(Mismatch, match=r"no finite gradient reaches first\.weight"):
        checks.learns(spoilt, numbers(4, 3))


def test_runs_of_a_part_are_counted():
    three = lambda model, x: [model(x) for _ in range(3)]
    model = Twice()
    results, times = checks.times_run(three, model, "second", numbers(4, 3))
    assert len(results) == times == 3
    assert not model.second._forward_hooks


def test_a_large_wrong_result_is_not_summed_up():
    huge = torch.zeros(1, dtype=torch.int8).expand(1_000_001)
    assert checks.sketch(huge) == {"shape": [1_000_001], "sums": [None] * 3}
    assert checks.sketch(torch.ones(2))["sums"][0] is not None


def test_weights_are_copied_by_name_however_they_are_kept():
    matrix = numbers(3, 2)
    linear = torch.nn.Module()
    linear.W_q = torch.nn.Linear(3, 2, bias=False)
    checks.set_weights(linear, W_q=matrix)
    assert torch.equal(linear.W_q.weight, matrix.T)

    bare = torch.nn.Module()
    bare.W_q = torch.nn.Parameter(torch.zeros(3, 2))
    checks.set_weights(bare, W_q=matrix)
    assert torch.equal(bare.W_q, matrix)

    fused = torch.nn.Module()
    fused.W_qkv = torch.nn.Linear(3, 6, bias=False)
    checks.set_weights(fused, W_q=matrix, W_k=2 * matrix, W_v=3 * matrix)
    assert torch.equal(fused.W_qkv.weight[2:4], 2 * matrix.T)

    with pytest.raises(Mismatch, match="no weights named W_x: found W_q"):
        checks.set_weights(bare, W_x=matrix)
    with pytest.raises(Mismatch, match=r"expected shape \(4, 4\) .* got \(3, 2\)"):
        checks.set_weights(linear, W_q=numbers(4, 4))


def test_numbers_neither_read_nor_move_the_global_generator():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = numbers(3, seed=5)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(123)
    assert torch.equal(numbers(3, seed=5), first)


def test_an_earlier_failing_check_is_pointed_to(capsys):
    first = Check("softmax")
    with first("holds"):
        same(1, 2)
    with pytest.raises(CheckFailed):
        first.report()
    second = Check("attention", needs=["softmax"])
    with second("holds"):
        same(1, 2)
    with pytest.raises(CheckFailed):
        second.report()
    assert "use your softmax, whose own check fails" in capsys.readouterr().out


def test_a_function_gets_an_object_with_fields():
    area = lambda card, times, plus=0: times * card.width * card.height + plus
    fields = {"width": 3, "height": 5}
    assert checks.with_fields(area, fields, 2, plus=1) == 31
