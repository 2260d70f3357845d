"""Writes into a store by FileDB's documents alone: write.py STORE OUT SEED COUNT

Makes COUNT random commits, with checkpoints between some, and writes into the folder OUT each table as a checkpoint
would write its file.
"""

import datetime
import random
import sys
from pathlib import Path

import canonical
import table
from changes import AsCommitted
from payloads import Change, encoded_name
from writer import Writer

NAMES = ["notes", "to do", "\u00e9t\u00e9", "50%"]
TEXTS = ["", "milk", "<&>\"'", "line\r\n\ttab", "\u00e9", "e\u0301", "\U0001f600", "]]>", " x "]


class RandomCommits:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, depth=0):
        kinds = ["string", "integer", "real", "bool", "date", "data"] + ["array", "dict"] * (depth < 3)
        match self.random.choice(kinds):
            case "string": return self.random.choice(TEXTS)
            case "integer": return self.random.choice([0, -1, 7, -2**63, 2**63 - 1, 2**64 - 1])
            case "real": return self.random.choice(
                [0.1, -0.0, 1.0, 1e16, 1e15, 1.5e-5, 0.0001, float("inf"), self.random.random()])
            case "bool": return self.random.random() < 0.5
            case "date": return datetime.datetime(1, 1, 1) + datetime.timedelta(
                seconds=self.random.randrange(315_537_897_600))
            case "data": return self.random.randbytes(self.random.choice([0, 1, 2, 3, 200]))
            case "array": return [self.value(depth + 1) for _ in range(self.random.randrange(3))]
            case "dict": return {self.random.choice(TEXTS): self.value(depth + 1)
                                 for _ in range(self.random.randrange(3))}

    def fields(self):
        return {name: self.value() for name in ("a", "b", "\u00e9", "fields<&") if self.random.random() < 0.6}

    def schema(self):
        return canonical.lines({"format": "filedb 1", "version": self.random.randrange(9)}, 1)

    def change(self, slot):
        """The word of a random change and what its line says of it; the records; the value of a schema."""
        if slot.table is None:
            return "create", [], [], None
        now = slot.table
        kinds = ["insert"] * 4 + ["counter", "schema", "noSchema"] + ["removeAll", "truncate", "drop"][
            :self.random.choice([0, 0, 0, 1, 2, 3])]
        if now.order:
            kinds += ["replace"] * 3 + ["remove", "move", "move", "reorder"]
        kind = self.random.choice(kinds)
        words, records, value = [], [], None
        match kind:
            case "insert":
                records = [table.record(self.fields(), now.counter + 1 + offset)
                           for offset in range(self.random.randrange(1, 4))]
                index = self.random.randrange(len(now.order) + 1)
                words = [str(len(records)), "index", str(index), "below", now.above(index)]
            case "replace":
                identifier = self.random.choice(now.order)
                records = [table.record(self.fields(), identifier)]
                words = ["was", now.mark(identifier)]
            case "remove":
                gone = self.random.sample(now.order, self.random.randrange(1, len(now.order) + 1))
                words = ["were"] + [f"{identifier}:{now.mark(identifier)}" for identifier in gone]
            case "move":
                identifier, index = self.random.choice(now.order), self.random.randrange(len(now.order))
                rest = [other for other in now.order if other != identifier]
                above = str(rest[index - 1]) if index > 0 else "-"
                words = [str(identifier), "index", str(index), "below", above, "was", now.mark(identifier)]
            case "reorder":
                words = [str(identifier) for identifier in self.random.sample(now.order, len(now.order))]
            case "removeAll" | "truncate" | "drop":
                words = ["were", *now.content().split(" ")]
            case "counter":
                words = [str(now.counter + self.random.randrange(5))]
            case "schema" | "noSchema":
                words = ["was", now.schema_checksum()]
                value = self.schema() if kind == "schema" else None
        return kind, words, records, value

    def commit(self, store, slots, writer):
        """Makes a commit, and the same changes of `slots`."""
        lines, in_file, tables = [], [], []
        has_file = self.random.random() < 0.2
        for name in self.random.sample(NAMES, self.random.randrange(1, 3)):
            slot = slots[name]
            tables.append(name)
            for _ in range(self.random.randrange(1, 4)):
                kind, words, records, value = self.change(slot)
                text = " ".join([kind, encoded_name(name).decode(), *words]).encode() + b"\n"
                lines += [text, value or b""] + ([] if has_file else records)
                in_file += records
                identified = [identifier_and_bytes(data) for data in records]
                AsCommitted().apply(Change(kind, name, words, identified, value), slot)
        writer.commit(store, tables, lines, in_file if has_file else None)


def identifier_and_bytes(data):
    return table.decimal(canonical.parse_lines(data)[table.ID]), data


def run(folder, out, seed, count):
    commits, writer, slots = RandomCommits(seed), Writer(folder), None
    for _ in range(count):
        with writer.locked() as store:
            if slots is None:
                slots = {name: store.slot(name) for name in NAMES}
            makes_checkpoint = commits.random.random() < 0.15
        if makes_checkpoint:
            with writer.checkpointing() as store:
                writer.checkpoint(store)
        with writer.locked() as store:
            commits.commit(store, slots, writer)
    for name, slot in slots.items():
        if slot.table is not None:
            (Path(out) / f"{name}.plist").write_bytes(slot.table.file())


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
