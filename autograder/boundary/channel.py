"""Messages across the trust boundary: a JSON text and a few raw buffers.

There is no pickle, and sizes are bounded. What the JSON stands for is a matter of
:mod:`autograder.boundary.wire`; the grader, which knows nothing of tensors, needs only
this, and so does not load PyTorch.
"""

import json
import select
import socket
import struct

JSON_BYTES = 8_000_000
BUFFER_BYTES = 256_000_000
BUFFERS = 10_000


class WireError(Exception):
    """A message that does not keep to the rules."""


class Gone(Exception):
    """The other side has ended, or does not answer in time."""


class Channel:
    """A stream socket that carries messages of JSON and buffers."""

    def __init__(self, sock: socket.socket):
        self.sock = sock

    def send(self, node, buffers: list | tuple = ()) -> None:
        """Send a message. Raises WireError if it is too large, Gone if nobody hears."""
        text = json.dumps(node, allow_nan=False).encode()
        if len(text) > JSON_BYTES or sum(map(len, buffers)) > BUFFER_BYTES:
            raise WireError("a value too large to cross")
        sizes = struct.pack(
            f">II{len(buffers)}Q", len(text), len(buffers), *map(len, buffers)
        )
        try:
            for part in (sizes, text, *buffers):
                self.sock.sendall(part)
        except (OSError, ValueError) as error:
            raise Gone(str(error)) from error

    def receive(self, seconds: float | None = None):
        """Wait for one message and give its JSON and buffers.

        Raises WireError when it breaks a bound, Gone at the end or after ``seconds``.
        """
        try:
            self.sock.settimeout(seconds)
            length, count = struct.unpack(">II", self._read(8))
            if length > JSON_BYTES or count > BUFFERS:
                raise WireError("a message too large")
            sizes = struct.unpack(f">{count}Q", self._read(8 * count))
            if sum(sizes) > BUFFER_BYTES:
                raise WireError("a message too large")
            text = self._read(length)
            return json.loads(text), [self._read(size) for size in sizes]
        except (OSError, ValueError, RecursionError) as error:
            if isinstance(error, (ValueError, RecursionError)):
                raise WireError(f"not a message: {error}") from error
            raise Gone(str(error) or "no answer in time") from error

    def waits(self, seconds: float) -> bool:
        """Tell whether something arrives, or the end, within ``seconds``."""
        closed = self.sock.fileno() < 0
        return closed or bool(select.select([self.sock], [], [], seconds)[0])

    def _read(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self.sock.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise Gone("the other side has ended")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        """Hang up."""
        self.sock.close()
