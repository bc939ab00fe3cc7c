"""Counts the frames that a peer sends; useful work gives frames back.

A call, a message and octets of answers each explain some frames: HEADERS, DATA, WINDOW_UPDATE, PING. A peer that sends
other frames, such as WINDOW_UPDATE, SETTINGS, PRIORITY, empty DATA, resets or unknown types, uses its budget up.
"""

from collections.abc import Callable

from server.platform.http2.limits import Limits

# RFC 9113 §3.4 and §4.1: octets of the connection preface, and of the head of a frame.
_PREFACE = 24
HEAD = 9
_DATA = 0
# DATA frames with at least that many octets of payload are not counted: they carry what they cost.
_USEFUL_OCTETS = 256
# Frames that a peer may send before other connections have their turn.
TURN_FRAMES = 256

# Frames that useful work gives back. A call has HEADERS, DATA, and the end of its stream.
OPENED_CALL = 2
TAKEN_MESSAGE = 1
WRITTEN_MESSAGE = 4
ENDED_CALL = 8
# Every so many written octets let the peer update a window, as clients do after 1 KiB or more.
WRITTEN_OCTETS = 512
# What a reset of a call costs beside its frame, unless the call ran for a while: its HEADERS, DATA and task.
HASTY_RESET = 3
HASTY_SECONDS = 1.0


class FrameBudget:
    """The frames that a peer may send; `time` is the clock of the event loop.

    Useful work is added to `left` at any time; the bound applies at the next turn.
    """

    __slots__ = ("_limits", "_most", "_refilled", "_skip", "_time", "left")

    def __init__(self, limits: Limits, time: Callable[[], float]) -> None:
        self.left = self._most = limits.max_frames
        self._limits = limits
        self._time = time
        self._refilled = time()
        # Octets before the next head of a frame.
        self._skip = _PREFACE

    def turn(self, data: bytes) -> int:
        """Count the frames of one turn; return how many of the octets belong to it.

        The next octets begin with the rest, whose first head of a frame may be incomplete.
        """
        size, place, counted = len(data), self._skip, 0
        for _ in range(TURN_FRAMES):
            if place + HEAD > size:
                break
            length = data[place] << 16 | data[place + 1] << 8 | data[place + 2]
            if length < _USEFUL_OCTETS or data[place + 3] != _DATA:
                counted += 1
            place += HEAD + length
        self.left = min(self.left, self._most)
        self.left -= counted
        if place > size:
            self._skip = place - size
            return size
        self._skip = 0
        return place

    def is_spent(self) -> bool:
        """Whether the peer sent more than its budget and than time gave back."""
        if self.left < 0:
            now = self._time()
            earned = int((now - self._refilled) * self._limits.frames_per_second)
            self.left = min(self.left + earned, self._most)
            self._refilled = now
        return self.left < 0
