"""Commits and checkpoints (Journal.md, "Writing a commit" and "Writing a checkpoint")."""

import contextlib
import datetime
import fcntl
import os
import secrets

import canonical
import frames
from payloads import encoded_name
from store import Store


class Writer:
    """Writes into a store's folder, under its locks."""

    def __init__(self, folder):
        os.makedirs(f"{folder}/.filedb", exist_ok=True)
        with open(f"{folder}/.filedb/.gitignore", "w") as ignore:
            ignore.write("*\n")
        self.folder = folder

    @contextlib.contextmanager
    def checkpointing(self):
        """The same, while nobody else makes a checkpoint."""
        with open(f"{self.folder}/.filedb/checkpoint", "a") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            with self.locked() as store:
                yield store

    @contextlib.contextmanager
    def locked(self):
        """The store as it is, while nobody else writes."""
        with open(f"{self.folder}/.filedb/lock", "a") as lock:
            with open(f"{self.folder}/.filedb/queue", "a") as queue:
                fcntl.flock(queue, fcntl.LOCK_EX)
                fcntl.flock(lock, fcntl.LOCK_EX)
            store = Store(self.folder)
            if store.journal is None:
                salt = secrets.randbelow(2**32 - 1) + 1
                self.replace(store.journal_file, frames.new(0, salt))
                store = Store(self.folder)
            yield store

    def replace(self, file, data):
        """Gives `file` this content, durably and all at once."""
        draft = file.with_name(f".{file.name}.python.filedb-draft")
        with open(draft, "wb") as output:
            output.write(data)
            output.flush()
            os.fsync(output.fileno())
        os.rename(draft, file)
        self.sync_folder(file.parent)

    def sync_folder(self, folder):
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)

    def append(self, store, kind, payload):
        """Appends a frame and waits until it is durable."""
        journal = store.journal
        sequence = journal.sequence + (kind == "commit")
        synced = max([journal.first, *(frame.synced for frame in journal.frames)])
        frame = frames.frame(kind, sequence, synced, payload, journal.salt)
        with open(store.journal_file, "r+b") as file:
            data = file.read()
            self.erase_torn(file, data, journal.end)
            if journal.end + len(frame) > len(data):
                file.seek(len(data))
                file.write(bytes(frames.padded(len(frame)) + frames.NEW_LENGTH))
                self.sync(file)
            file.seek(0)  # Steps 7 and 8: the system may have failed to write what is there.
            file.write(data[:journal.end] + frame)
            self.sync(file)
        journal.frames.append(frames.Frame(kind, sequence, synced, payload))
        journal.end += len(frame)

    def erase_torn(self, file, data, end):
        length = len(data.rstrip(b"\0"))
        if length > end:
            file.seek(end)
            file.write(bytes(length - end))
            self.sync(file)

    def sync(self, file):
        file.flush()
        os.fsync(file.fileno())

    def commit(self, store, tables, lines, records):
        """Appends the changes `lines`, whose records are in a file of their own where `records` is not `None`."""
        head = [f"date {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
                f"token {secrets.token_hex(16)}"]
        for name in sorted(tables, key=lambda name: name.encode()):
            head.append(f"table {encoded_name(name).decode()} at {store.journal.sequence}{self.base(store, name)}")
        if records is not None:
            head.append(self.write_records(store, records))
        payload = "\n".join(head).encode() + b"\n" + b"".join(lines)
        self.append(store, "commit", payload)

    def base(self, store, name):
        version, history = canonical.version(store.data(name)), store.histories.get(name)
        if history and (version in history.included or version in history.saved):
            return ""
        if store.data(name) is not None:
            with open(store.file(name), "rb") as file:
                os.fsync(file.fileno())
        self.sync_folder(self.folder)
        return f" base {version}"

    def write_records(self, store, records):
        name, data = f"records-{secrets.token_hex(4)}", b"".join(records)
        self.replace(store.own / name, data)
        return f"records {name} {len(records)} {len(data)} {canonical.hexadecimal(data)}"

    def checkpoint(self, store):
        """Brings the files up to the journal, which it keeps. Python has no call that exchanges two names, so an
        editor's save in the very moment of a rename would be lost."""
        names = sorted((name for name, history in store.histories.items() if history.commits),
                       key=lambda name: name.encode())
        if not names:
            return
        slots = {name: store.slot(name) for name in names}
        files = {name: slot.table.file() if slot.table else None for name, slot in slots.items()}
        dropped = {name: slot.kept_counter for name, slot in slots.items() if slot.table is None}
        self.append(store, "checkpoint", b"".join(
            b"file %s %s through %d%s\n" % (
                encoded_name(name), canonical.version(data).encode(), store.journal.sequence,
                self.base(store, name).encode())
            for name, data in files.items()))
        if dropped:
            counters = {name: str(number) for name, number in (store.counters | dropped).items() if number > 0}
            self.replace(store.own / "counters.plist", canonical.document(counters))
        for name, data in files.items():
            if data is not None:
                self.replace(store.file(name), data)
            elif store.file(name).exists():
                os.remove(store.file(name))
                self.sync_folder(self.folder)
        self.append(store, "written", b"".join(
            b"file %s %s through %d\n" % (
                encoded_name(name), canonical.version(data).encode(), store.journal.sequence)
            for name, data in files.items()))
