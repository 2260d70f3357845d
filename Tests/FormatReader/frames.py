"""The frames of a journal (Journal.md, "Frames", "The start payload" and "Reading after a crash")."""

import re
from dataclasses import dataclass

import canonical

UNIT = 64
SECTOR = 512
NEW_LENGTH = 65_536
KINDS = ("start", "commit", "checkpoint", "written", "parked")
_LINE = re.compile(
    rb"(start|commit|checkpoint|written|parked) * ([0-9a-f]{12}) ([0-9a-f]{12}) ([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{8})\n")


class Damage(Exception):
    """The journal is damaged."""


class OtherFormat(Exception):
    """The journal has a format that is neither 2 nor 3."""


@dataclass
class Frame:
    kind: str
    sequence: int
    synced: int
    payload: bytes


@dataclass
class Journal:
    salt: int
    first: int  # The number of the last commit before this journal.
    frames: list
    end: int  # Where the next frame goes.

    @property
    def sequence(self):
        return self.frames[-1].sequence if self.frames else self.first


def padded(length):
    return (length + UNIT - 1) // UNIT * UNIT


def line(kind, sequence, synced, payload, salt):
    text = b"%-10s %012x %012x %08x %08x" % (
        kind.encode(), sequence, synced, len(payload), canonical.checksum(payload))
    return text + b" %08x\n" % (canonical.checksum(text) ^ salt)


def frame(kind, sequence, synced, payload, salt):
    data = line(kind, sequence, synced, payload, salt) + payload
    return data + b"\n" * (padded(len(data)) - len(data))


def parse_line(data, salt):
    """Kind, sequence, synced, length and payload checksum; `None` where the line is not valid."""
    match = _LINE.fullmatch(data)
    if not match or data[10:11] != b" " or canonical.checksum(data[:54]) ^ salt != int(match[6], 16):
        return None
    return (match[1].decode(), *(int(match[group], 16) for group in range(2, 6)))


def new(sequence, salt, undo=None):
    """A journal without commits, as it is written to a draft."""
    payload = f"FileDB journal 3\n{NEW_LENGTH}\n{salt:08x}\n" + (f"undo {undo}\n" if undo else "")
    data = frame("start", sequence, sequence, payload.encode(), 0)
    return data + bytes(NEW_LENGTH - len(data))


def read(data):
    """All frames up to the first that is not whole."""
    start = parse_line(data[:UNIT], 0)
    if not start or start[0] != "start":
        raise Damage("the journal does not begin with a start frame")
    payload = data[UNIT:UNIT + start[3]]
    if len(payload) != start[3] or canonical.checksum(payload) != start[4]:
        raise Damage("the start frame is damaged")
    journal = Journal(start_salt(payload, len(data)), start[1], [], padded(UNIT + start[3]))
    while journal.end < len(data):
        found = frame_at(journal.end, data, journal)
        if not found:
            require_nothing_durable(data, journal)
            break
        journal.frames.append(found)
        journal.end = padded(journal.end + UNIT + len(found.payload))
    return journal


def start_salt(payload, length):
    lines = payload.split(b"\n")
    longest = {b"FileDB journal 2": 5, b"FileDB journal 3": 6}.get(lines[0])
    if not longest:
        raise OtherFormat(lines[0].decode(errors="replace"))
    if not 4 <= len(lines) <= longest or lines[-1] != b"" or not re.fullmatch(rb"[0-9a-f]{8}", lines[2]):
        raise Damage("the start payload has another form")
    if not re.fullmatch(rb"[1-9][0-9]*", lines[1]) or length < int(lines[1]):
        raise Damage("the journal was cut off")
    if int(lines[2], 16) == 0:
        raise Damage("the salt is 0")
    return int(lines[2], 16)


def frame_at(position, data, journal):
    """The frame at `position`; `None` where a crash interrupted its write, or there is none."""
    text = data[position:position + UNIT]
    header = parse_line(text, journal.salt)
    if not header:
        if not any(text) or (len(text) == UNIT and is_torn_line(position, data)):
            return None
        raise Damage(f"the line at {position} is damaged")
    kind, sequence, synced, length, checksum = header
    begin = position + UNIT
    payload = data[begin:begin + length]
    if len(payload) < length:
        raise Damage(f"the frame at {position} goes past the end")
    if canonical.checksum(payload) != checksum:
        filling = data[begin + length:begin + length + -length % UNIT]
        if is_torn(payload, begin, filling):
            return None
        raise Damage(f"the payload at {begin} is damaged")
    if kind == "start" or sequence != journal.sequence + (kind == "commit"):
        raise Damage(f"the frame at {position} is out of order")
    return Frame(kind, sequence, synced, payload)


def is_torn_line(position, data):
    """Whether the first byte of the line is zero, or all bytes from its last one to the end of its sector."""
    last = position + UNIT - 1
    return data[position] == 0 or not any(data[last:last - last % SECTOR + SECTOR])


def is_torn(payload, begin, filling):
    """Whether the end of `payload`, which begins at the byte `begin` of the file, or one of its sectors, is missing."""
    if payload.endswith(b"\0") and not any(filling):
        return True
    first = -(begin % SECTOR)
    pieces = (payload[max(at, 0):at + SECTOR] for at in range(first, len(payload), SECTOR))
    return any(not any(piece) for piece in pieces)


def require_nothing_durable(data, journal):
    """A crash can interrupt only a write that nobody was told of."""
    missing = journal.sequence + 1
    for position in range(journal.end, len(data), UNIT):
        header = parse_line(data[position:position + UNIT], journal.salt)
        if header and header[2] >= missing:
            raise Damage(f"commit {missing} was durable and is lost")
