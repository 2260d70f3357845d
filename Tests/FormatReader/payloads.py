"""What a frame says (Journal.md, "The commit payload" and the two after it)."""

import re
from dataclasses import dataclass, field

import canonical
import table
from frames import Damage

RECORD_END = b"\n\t\t</dict>\n"
VALUE_END = b"\n\t</dict>\n"


@dataclass
class Mention:
    """A `table` line of a commit, or a line of a checkpoint or a `written` frame."""
    at: int = None
    base: str = None
    version: str = None
    through: int = None
    is_saved: bool = False


@dataclass
class Change:
    word: str
    table: str
    words: list
    records: list = field(default_factory=list)  # Each an id and canonical bytes.
    value: bytes = None


@dataclass
class Commit:
    tables: dict = field(default_factory=dict)
    changes: list = field(default_factory=list)
    undo: str = None


def encoded_name(name):
    special = lambda byte: byte <= 0x20 or byte in (0x25, 0x7F)
    return b"".join(b"%%%02x" % byte if special(byte) else bytes([byte]) for byte in name.encode())


def decoded_name(data):
    text = re.sub(rb"%([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), data)
    if encoded_name(text.decode()) != data:
        raise Damage(f"'{data}' is not a table's name")
    return text.decode()


class Lines:
    """A payload, taken from its beginning."""

    def __init__(self, data):
        self.data, self.position = data, 0

    def next(self):
        """The words of the next line, without taking it; `None` at the end."""
        if self.position == len(self.data):
            return None
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise Damage("the last line does not end")
        return self.data[self.position:end].split(b" ")

    def skip(self):
        self.position = self.data.index(b"\n", self.position) + 1

    def element(self, begin, end):
        """The lines of a record or of a value."""
        close = self.data.find(end, self.position)
        if close < 0 or not self.data.startswith(begin, self.position):
            raise Damage("a record or a value is missing")
        start, self.position = self.position, close + len(end)
        return self.data[start:self.position]

    def record(self):
        data = self.element(b"\t\t<dict>\n", RECORD_END)
        fields = canonical.parse_lines(data)
        identifier = table.decimal(fields.get(table.ID))
        if table.record(fields, identifier) != data:
            raise Damage(f"record {identifier} is not in canonical bytes: {data!r}")
        return identifier, data


def number(word):
    return table.decimal(word.decode())


def version(word):
    if word != b"absent" and not re.fullmatch(rb"(0|[1-9][0-9]*):[0-9a-f]{8}", word):
        raise Damage(f"'{word}' is not a version")
    return word.decode()


def parse_commit(payload, file_of_records):
    """`file_of_records` gives the bytes of such a file by its name."""
    lines, commit = Lines(payload), Commit()
    if not re.fullmatch(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", b" ".join(lines.next()[1:])):
        raise Damage("a commit begins with its date")
    lines.skip()
    if lines.next() and lines.next()[0] == b"token":
        lines.skip()
    if lines.next() and lines.next()[0] == b"undo":
        commit.undo = lines.next()[1].decode()
        lines.skip()
    while lines.next() and lines.next()[0] == b"table":
        name, mention = table_line(lines.next())
        if name in commit.tables:
            raise Damage(f"'{name}' has two table lines")
        commit.tables[name] = mention
        lines.skip()
    records = lines
    if lines.next() and lines.next()[0] == b"records":
        records = Lines(records_file(lines.next(), file_of_records))
        lines.skip()
    while lines.next():
        commit.changes.append(parse_change(lines, records))
        if commit.changes[-1].table not in commit.tables:
            raise Damage(f"'{commit.changes[-1].table}' has no table line")
    if records.next():
        raise Damage("the file of records has more of them")
    if not commit.changes and not commit.undo:
        raise Damage("a commit has no changes")
    return commit


def table_line(words):
    mention, rest = Mention(), words[2:]
    if rest[:1] == [b"at"]:
        mention.at, rest = number(rest[1]), rest[2:]
    if rest[:1] == [b"base"]:
        mention.base, rest = version(rest[1]), rest[2:]
    if rest:
        raise Damage(f"a table line has {rest}")
    return decoded_name(words[1]), mention


def records_file(words, file_of_records):
    name, count, size, checksum = words[1:]
    if not name.startswith(b"records-") or b"/" in name:
        raise Damage(f"'{name}' is not a file of records")
    data = file_of_records(name.decode())
    if len(data) != number(size) or canonical.hexadecimal(data) != checksum.decode():
        raise Damage(f"'{name}' is another file")
    if data.count(RECORD_END) != number(count):
        raise Damage(f"'{name}' has another number of records")
    return data


def parse_change(lines, records):
    words = lines.next()
    lines.skip()
    change = Change(words[0].decode(), decoded_name(words[1]), [word.decode() for word in words[2:]])
    if change.word == "insert":
        change.records = [records.record() for _ in range(int(change.words[0]))]
    elif change.word == "replace":
        change.records = [records.record()]
    elif change.word == "schema":
        change.value = lines.element(b"\t<dict>\n", VALUE_END)
    return change


def parse_files(payload, sequence):
    """The lines of a checkpoint or a `written` frame, by the table's name. In format 2, the files include all commits."""
    lines, mentions = Lines(payload), {}
    if lines.next() and lines.next()[0] == b"journal":
        lines.skip()
    while words := lines.next():
        if words[0] != b"file":
            raise Damage(f"a line begins with '{words[0]}'")
        mention, rest = Mention(version=version(words[2]), through=sequence), words[3:]
        if rest[:1] == [b"through"]:
            mention.through, rest = number(rest[1]), rest[2:]
        if rest[:1] == [b"inode"]:
            rest = rest[4:]
        if rest[:1] == [b"base"]:
            mention.base, rest = version(rest[1]), rest[2:]
        mention.is_saved = rest == [b"saved"]
        if rest not in ([], [b"saved"], [b"repaired"]):
            raise Damage(f"a line ends with {rest}")
        mentions[decoded_name(words[1])] = mention
        lines.skip()
    return mentions


def parse_parked(payload):
    """The table in conflict, the number of the commit, and its payload."""
    lines = Lines(payload)
    words = lines.next()
    if words[0] != b"parked" or len(words) != 3:
        raise Damage("a parked commit does not name its table")
    lines.skip()
    return decoded_name(words[1]), number(words[2]), payload[lines.position:]
