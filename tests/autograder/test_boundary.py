"""What crosses the trust boundary, and what does not."""

import contextlib
import json
import linecache
import random
import socket
import struct
import threading
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import torch
from nbformat.v4 import new_code_cell
from nbgrader.utils import determine_grade
from torch import nn

from autograder.boundary import agent
from autograder.boundary.channel import Channel, Gone, WireError
from autograder.boundary.checker import Names, run_cell
from autograder.boundary.execute import _partial
from autograder.boundary.proxy import AnswerEnded, Learner
from autograder.boundary.wire import DTYPES, pack, unpack
from autograder.results import _outputs
from exercises import checks

ANSWER = """
import torch
from torch import nn

def double(x):
    return 2 * x

def spoil(x, items):
    x += 1
    items.append("more")
    return x

def changes(x, how):
    exec(how)

def fails(x):
    return x @ torch.ones(7, 7)

def draw(generator):
    return torch.rand(3, generator=generator)

class Layer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_q = nn.Linear(d_in, d_out, bias=False)
        self.dropout = nn.Dropout(0.9)

    def forward(self, x):
        return self.dropout(self.W_q(x))

letter = "b"
"""


@pytest.fixture
def learner(monkeypatch):
    """The other side, in a thread of this process."""
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(agent, "CHANNEL", Channel(theirs))
    namespace = {"__name__": "__main__"}
    name = "<answer>"
    linecache.cache[name] = (len(ANSWER), None, ANSWER.splitlines(True), name)
    exec(compile(ANSWER, name, "exec"), namespace)

    def serve():
        with contextlib.suppress(Gone):  # the test is over
            agent.serve(namespace)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield Learner(Channel(ours), seconds=20)
    ours.close()
    theirs.close()
    thread.join(5)


def test_plain_values_come_back_as_they_were(learner):
    double = learner.look("double")
    assert double(21) == 42 and double(1.5) == 3.0 and double("ab") == "abab"
    assert double([1, None]) == [1, None, 1, None]
    assert double((1,)) == (1, 1) and double(b"x") == b"xx"
    assert double(10**30) == 2 * 10**30
    assert learner.look("letter") == "b"


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_tensors_of_every_plain_dtype_cross(dtype):
    value = torch.arange(6).reshape(2, 3).to(dtype).mT
    buffers = []
    node = json.loads(json.dumps(pack(value, buffers)))
    assert torch.equal(unpack(node, buffers), value)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
def test_tensors_of_odd_shapes_cross(shape):
    buffers = []
    node = pack(torch.ones(shape), buffers)
    assert unpack(node, buffers).shape == shape


def test_a_view_of_one_number_crosses():
    buffers = []
    column = torch.arange(3.0)[None].chunk(3, dim=1)[2].T
    assert column.stride() == (1, 3)
    assert torch.equal(unpack(pack(column, buffers), buffers), torch.tensor([[2.0]]))


def test_a_change_in_place_is_seen(learner):
    spoil = learner.look("spoil")
    x, items = torch.zeros(2), ["one"]
    result = spoil(x, items)
    assert torch.equal(x, torch.ones(2)) and torch.equal(result, x)
    with pytest.raises(checks.Mismatch, match="input 1 was changed"):
        checks.unchanged(lambda t: spoil(t, []), torch.zeros(2))


def test_gradients_and_weights_go_beside(learner):
    double, layer = learner.look("double"), learner.look("Layer")(3, 2)
    expected = checks.gradient(lambda x: 2 * x, torch.ones(3))
    assert torch.equal(checks.gradient(double, torch.ones(3)), expected)
    matrix = checks.numbers(3, 2)
    checks.set_weights(layer, W_q=matrix)
    layer.eval()
    x = checks.numbers(4, 3, seed=1)
    checks.same(layer(x), x @ matrix)
    layer.train()
    assert (layer(torch.ones(50, 3)) == 0).any()
    assert torch.equal(layer.W_q.weight, matrix.T)
    assert [name for name, _ in layer.named_parameters()] == ["W_q.weight"]
    with pytest.raises(checks.Mismatch, match="no weights named W_k"):
        checks.set_weights(layer, W_k=matrix)


def test_a_generator_moves_on(learner):
    generator = torch.Generator().manual_seed(0)
    draw = learner.look("draw")
    first, second = draw(generator), draw(generator)
    assert not torch.equal(first, second)
    again = torch.Generator().manual_seed(0)
    assert torch.equal(torch.rand(3, generator=again), first)


def test_errors_keep_their_kind_and_place(learner):
    with pytest.raises(RuntimeError) as caught:
        learner.look("fails")(torch.ones(2, 3))
    assert caught.value.place == " (in fails, line 2: return x @ torch.ones(7, 7))"
    with pytest.raises(NameError, match="'nothing'"):
        learner.look("nothing")
    with pytest.raises(TypeError, match="plain values only"):
        learner.look("double")(object())


def test_an_ended_answer_is_told_at_once(learner):
    double = learner.look("double")
    agent.CHANNEL.sock.shutdown(socket.SHUT_RDWR)
    with pytest.raises(AnswerEnded):
        double(1)
    with pytest.raises(AnswerEnded):
        double(1)


def test_a_test_keeps_its_own_names(learner):
    """Python's and the test's names come first; only others are the learner's."""
    names = Names(learner)
    said = run_cell("x = len([1, 2])\nassert x == 2\nassert double(x) == 4\nx", names)
    assert said["error"] is None and said["value"] == {"number": "2.0"}
    said = run_cell("assert (lambda: double(1))() == 3, 'no'", names)
    assert said["error"]["ename"] == "AssertionError"


@pytest.mark.parametrize(
    "node",
    [
        ["tensor", "float32", [2], "cpu", False, 0],
        ["tensor", "float32", [-1], "cpu", False, 0],
        ["tensor", "object", [1], "cpu", False, 0],
        ["tensor", "float32", [10**9], "cpu", False, 0],
        ["tensor", "float32", "x", "cpu", False, 0],
        ["bytes", 99],
        ["handle", 1],
        ["os.system", "true"],
        ["int", "f" * 20_000],
        ["dict", [[["list", []], 1]]],
        ["float", "one"],
        [],
        {},
        7,
    ],
    ids=str,
)
def test_a_bad_node_is_refused(node):
    with pytest.raises(WireError):
        unpack(node, [b"\0" * 3])


def test_a_buffer_is_used_once():
    tensor = ["tensor", "uint8", [3], "cpu", False, 0]
    with pytest.raises(WireError, match="used twice"):
        unpack(["list", [tensor, tensor]], [b"123"])


def test_depth_is_bounded_both_ways():
    deep = value = []
    for _ in range(200):
        value.append([])
        value = value[0]
    with pytest.raises(WireError, match="too deeply"):
        pack(deep, [])
    node = ["list", []]
    for _ in range(200):
        node = ["list", [node]]
    with pytest.raises(WireError, match="too deeply"):
        unpack(node, [])


def test_random_bytes_are_refused_and_never_run():
    chance = random.Random(0)
    for _ in range(300):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(chance.randbytes(chance.randrange(1, 400)))
            theirs.close()
            with pytest.raises((WireError, Gone)):
                Channel(ours).receive(1.0)


@pytest.mark.parametrize("head", [(2**31, 0), (1, 2**31)])
def test_announced_sizes_are_bounded(head):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack(">II", *head))
        with pytest.raises(WireError, match="too large"):
            Channel(ours).receive(1.0)


#: What is handed over, how it is changed there, and what then stands here.
CHANGES = {
    "a dictionary's value": ({"a": 1}, "x['a'] = 2", {"a": 2}),
    "a dictionary in one": ({"a": {"b": [1]}}, "x['a']['b'][0] = 2", {"a": {"b": [2]}}),
    "a word of ours": ({"bytes": 1}, "x['tensor'] = ['bytes', 'tensor']",
        {"bytes": 1, "tensor": ["bytes", "tensor"]}),
    "pairs in a list": ([None, None], "x[:] = [(0, 0), (1, 1)]", [(0, 0), (1, 1)]),
    "a set": ({1}, "x.add(2)", {1, 2}),
    "a shorter list": ([1, [2], 3], "del x[0]", [[2], 3]),
    "an array": (numpy.zeros(2), "x += 1", numpy.ones(2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_in_place_is_seen(learner, name):
    mine, change, after = CHANGES[name]
    learner.look("changes")(mine, change)
    assert type(mine) is type(after) and numpy.all(mine == after)


@pytest.mark.parametrize(
    "value",
    [numpy.int64(9), numpy.float32(1.5), numpy.bool_(True), numpy.array(1.5), 1.5 + 2j,
     numpy.array([[1, 2]]), Fraction(3, 2), Decimal("1.5"), {2**59: 1, 1.5: 2}],
    ids=repr,
)  # fmt: skip
def test_all_kinds_of_numbers_cross(value):
    buffers = []
    node = json.loads(json.dumps(pack(value, buffers)))
    assert numpy.all(unpack(node, buffers) == value)


def test_keys_that_may_share_one_hash_are_refused():
    for keys in ({2**61 - 1}, {(3, 2**61)}, {1e30: 1}):
        with pytest.raises(WireError, match="too large a number"):
            unpack(pack(keys, []), [])


def test_what_is_not_plain_crosses_as_its_name():
    buffers = []
    node = pack({"a": nn.Linear(1, 1)}, buffers)
    assert repr(unpack(node, buffers)["a"]) == "<a Linear>"


#: the last line of a test worth 2 points: its score, and what its note says
PARTIAL = {
    "0": (0, ""),
    "0.0": (0, ""),
    "1": (1, ""),
    "np.float64(1.5)": (1.5, ""),
    "np.float32(0.5)": (0.5, ""),
    "np.int64(1)": (1, ""),
    "np.array(1.5)": (1.5, ""),
    "torch.tensor(1.5)": (1.5, ""),
    "torch.tensor([0.])": (0, ""),
    "fractions.Fraction(1, 2)": (0.5, ""),
    "2.0": (2, ""),
    "None": (2, ""),
    "x = 5": (2, ""),
    "float('nan')": (0, "the test gave nan, which is not finite; counted as 0"),
    "torch.tensor(float('inf'))": (0, "gave inf, which is not finite; counted as 0"),
    "-1": (0, "the test gave -1 of 2 points; counted as 0"),
    "99": (2, "the test gave 99 of 2 points; counted as 2"),
    "True": (0, "the test gave True, which is not a number; counted as 0"),
    "False": (0, "the test gave False, which is not a number; counted as 0"),
    "np.True_": (0, "the test gave True, which is not a number; counted as 0"),
    "torch.tensor(True)": (0, "the test gave True, which is not a number"),
    "'2'": (0, "the test gave a str, which is not a number; counted as 0"),
    "[2]": (0, "the test gave a list, which is not a number; counted as 0"),
    "1j": (0, "the test gave a complex, which is not a number; counted as 0"),
    "np.ones(2)": (0, "the test gave a ndarray, which is not a number"),
    "torch.ones(2)": (0, "the test gave a Tensor, which is not a number"),
    "double": (0, "the test gave a Proxy, which is not a number; counted as 0"),
}


@pytest.mark.case(
    "S12",
    f"{len(PARTIAL)} last lines of a test: numbers, NaN, -1, 99, True, texts",
    "numbers count; others give 0 or the bound, with a note",
)
@pytest.mark.parametrize("last", PARTIAL)
def test_partial_credit_is_read_from_numbers_only(learner, last):
    points, note = PARTIAL[last]
    names = Names(learner)
    said = run_cell(f"import fractions, torch\nimport numpy as np\n{last}", names)
    assert said["error"] is None
    cell = new_code_cell(metadata={"nbgrader": {"grade": True, "points": 2}})
    if said["value"] is not None:
        _partial(cell, said["value"], 2.0)
    assert determine_grade(cell) == (points, 2)
    kept = _outputs(cell, solution=False)
    assert note in kept.get("note", "") and bool(note) == ("note" in kept)
