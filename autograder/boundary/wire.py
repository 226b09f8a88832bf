"""Plain values as JSON and buffers: what may cross the trust boundary, and no more.

There is no pickle, and nothing that is received is ever run. Depths and counts are
bounded, and so are the sizes of messages: see :mod:`autograder.boundary.channel`.
"""

import itertools
import math
import types
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import numpy
import torch
from torch import Tensor

from autograder.boundary.channel import BUFFERS, WireError

DEPTH = 40
DIGITS = 10_000  # of a number, in hexadecimal or in decimal
SMALL = 2**60  # whole numbers from here on can be made to have equal hashes
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16,
        torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool, torch.complex64, torch.complex128,
    )
}  # fmt: skip
CONTAINERS = (list, tuple, set, frozenset)
LAZY = (
    types.GeneratorType, map, filter, zip, range, enumerate,
    type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip


def pack(value, buffers: list, handle=None, depth: int = DEPTH):
    """Turn a plain value into JSON, appending raw bytes to ``buffers``.

    ``handle`` is asked for what is not plain, and gives its JSON; without it, such a
    value crosses as the name of its type. Raises WireError when it is too deep.
    """
    if depth == 0:
        raise WireError("a value nested too deeply")
    if len(buffers) > BUFFERS:
        raise WireError("a value of too many parts")
    if isinstance(value, numpy.generic):
        value = value.item()
    if value is None or value is True or value is False:
        return value
    if isinstance(value, (*LAZY, *CONTAINERS, Mapping)):
        return _pack_items(value, lambda item: pack(item, buffers, handle, depth - 1))
    for kind, packer in _PACKERS:
        if isinstance(value, kind):
            return packer(value, buffers)
    return handle(value) if handle else ["foreign", type(value).__name__[:80]]


def _pack_items(value, inner):
    if isinstance(value, Mapping):
        return ["dict", [[inner(key), inner(item)] for key, item in value.items()]]
    if isinstance(value, LAZY):
        return ["list", [inner(item) for item in itertools.islice(value, BUFFERS)]]
    kind = next(kind for kind in CONTAINERS if isinstance(value, kind))
    return [kind.__name__, [inner(item) for item in value]]


def _pack_float(value: float, buffers: list):
    number = float(value)
    return number if math.isfinite(number) else ["float", repr(number)]


def _pack_bytes(value, buffers: list):
    buffers.append(bytes(value))
    return ["bytes", len(buffers) - 1]


def _pack_array(value: numpy.ndarray, buffers: list):
    if value.dtype.kind not in "biufc":
        return ["foreign", f"array of {value.dtype}"]
    buffers.append(value.tobytes())
    return ["array", value.dtype.str, list(value.shape), len(buffers) - 1]


def _pack_dtype(value: torch.dtype, buffers: list):
    name = str(value).removeprefix("torch.")
    return ["dtype" if name in DTYPES else "foreign", name]


def _pack_generator(value: torch.Generator, buffers: list):
    return ["generator", str(value.device), _pack_tensor(value.get_state(), buffers)]


def _pack_tensor(value: Tensor, buffers: list):
    with torch._C.DisableTorchFunctionSubclass():
        plain = value.detach()
        if plain.layout != torch.strided and not plain.is_quantized:
            plain = plain.to_dense()
        dtype = str(plain.dtype).removeprefix("torch.")
        if plain.device.type == "meta" or dtype not in DTYPES:
            return ["foreign", f"{plain.device.type} tensor of {dtype}"]
        whole = plain.resolve_conj().resolve_neg().cpu()
        # a view of one number counts as contiguous whatever its stride: copy it
        flat = whole.clone(memory_format=torch.contiguous_format).reshape(-1)
        buffers.append(flat.view(torch.uint8).numpy().tobytes())
        where, shape = str(plain.device), list(plain.shape)
        return ["tensor", dtype, shape, where, value.requires_grad, len(buffers) - 1]


_PACKERS = (
    (Tensor, _pack_tensor),
    (str, lambda value, buffers: str.__str__(value)),
    (int, lambda value, buffers: ["int", format(int(value), "x")]),
    (float, _pack_float),
    (complex, lambda value, buffers: ["complex", repr(value.real), repr(value.imag)]),
    (Fraction, lambda v, _: ["fraction", f"{v.numerator:x}", f"{v.denominator:x}"]),
    (Decimal, lambda value, buffers: ["decimal", str(value)]),
    (numpy.ndarray, _pack_array),
    ((bytes, bytearray), _pack_bytes),
    (torch.dtype, _pack_dtype),
    (torch.device, lambda value, buffers: ["device", str(value)]),
    (torch.Generator, _pack_generator),
)


def unpack(node, buffers: list, handle=None, depth: int = DEPTH):
    """Turn what :func:`pack` made back into a value, checking all of it.

    ``handle`` makes a stand-in for an object of the other side. Raises WireError.
    """
    if depth == 0:
        raise WireError("a value nested too deeply")
    if node is None or isinstance(node, (bool, str, float)):
        return node
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        raise WireError("not a value")
    kind, *rest = node
    try:
        if kind in _ITEMS or kind == "dict":
            inner = lambda item: unpack(item, buffers, handle, depth - 1)
            return _unpack_items(kind, rest[0], inner)
        if kind in _SIMPLE:
            return _SIMPLE[kind](*rest)
        if kind in _RAW:
            return _RAW[kind](*rest, buffers)
        if kind == "handle" and handle:
            return handle(*rest)
    except WireError:
        raise
    except Exception as error:
        raise WireError(f"not a {kind}: {error}") from error
    raise WireError(f"unknown kind {kind[:40]!r}")


def _unpack_items(kind: str, items: list, inner):
    if kind == "dict":
        return {_hashed(inner(key)): inner(item) for key, item in items}
    if "set" in kind:
        return _ITEMS[kind](_hashed(inner(item)) for item in items)
    return _ITEMS[kind](inner(item) for item in items)


def _hashed(key):
    """Refuse numbers as keys of which many may be made with one and the same hash."""
    if isinstance(key, tuple):
        return tuple(map(_hashed, key))
    if isinstance(key, (int, float, Fraction, Decimal)) and SMALL < abs(key) < math.inf:
        raise WireError("a key that is too large a number")
    return key


def _unpack_generator(device: str, state: list, buffers: list) -> torch.Generator:
    made = torch.Generator(device=device)
    made.set_state(_unpack_tensor(*state[1:], buffers))
    return made


def foreign(name: str):
    """Stand in for a value that is not plain: only the name of its type crossed."""
    return type(str(name)[:80], (), {"__repr__": lambda self: f"<a {name}>"})()


def _from_hex(text: str) -> int:
    if len(text) > DIGITS:
        raise WireError("too long a number")
    return int(text, 16)


def _decimal(text: str) -> Decimal:
    made = Decimal(text[:DIGITS])
    if made.is_finite() and abs(made.adjusted()) > DIGITS:
        raise WireError("too long a number")
    return made


_SIMPLE = {
    "int": _from_hex,
    "float": float,
    "complex": lambda real, imaginary: complex(float(real), float(imaginary)),
    "fraction": lambda over, under: Fraction(_from_hex(over), _from_hex(under)),
    "decimal": _decimal,
    "foreign": foreign,
    "dtype": lambda name: DTYPES[name],
    "device": lambda name: torch.device(name),
}


def _take(buffers: list, index: int) -> bytes:
    """Take a buffer out, so that no message can name one twice."""
    raw, buffers[index] = buffers[index], None
    if raw is None:
        raise WireError("a buffer that is used twice")
    return raw


def _unpack_tensor(dtype, shape, device, requires_grad, index, buffers) -> Tensor:
    raw, dtype = bytearray(_take(buffers, index)), DTYPES[dtype]
    sizes_fit = len(shape) <= 64 and all(type(n) is int and n >= 0 for n in shape)
    if not sizes_fit or math.prod(shape) * dtype.itemsize != len(raw):
        raise WireError("a tensor whose bytes do not fit its shape")
    if not raw:
        made = torch.empty(shape, dtype=dtype, device="cpu")
    else:
        flat = torch.frombuffer(raw, dtype=torch.uint8)
        made = flat.view(dtype).reshape(shape)
    if device != "cpu" and torch.cuda.is_available():
        made = made.to(device)
    return made.requires_grad_(requires_grad is True and dtype.is_floating_point)


def _unpack_array(dtype, shape, index, buffers) -> numpy.ndarray:
    raw, dtype = _take(buffers, index), numpy.dtype(dtype)
    if dtype.kind not in "biufc":
        raise WireError("an array of what is no number")
    return numpy.frombuffer(bytearray(raw), dtype).reshape(shape)


_ITEMS = {kind.__name__: kind for kind in CONTAINERS}
_RAW = {
    "bytes": lambda index, buffers: bytes(_take(buffers, index)),
    "tensor": _unpack_tensor,
    "array": _unpack_array,
    "generator": _unpack_generator,
}
