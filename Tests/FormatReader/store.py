"""A store's folder: its tables' files, and the commits that they do not include yet."""

from dataclasses import dataclass, field
from pathlib import Path

import canonical
import frames
import payloads
from changes import AsCommitted, OnSavedFile, Slot
from table import Misfit, Table, decimal


class Conflict(Exception):
    """Another program saved a table's file while commits were waiting, and they do not fit."""


@dataclass
class History:
    """What the journal says about a table since it named it first."""
    commits: list = field(default_factory=list)  # Each a number and changes.
    included: dict = field(default_factory=dict)  # Version of the file: the last commit that it includes.
    saved: dict = field(default_factory=dict)  # Version of a file saved meanwhile: the last commit that waited.
    is_checkpointed: bool = False  # Since the latest base.

    def replace_versions(self, base, sequence):
        self.included, self.saved, self.is_checkpointed = {}, {base: sequence}, False


class Store:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.own = self.folder / ".filedb"
        self.journal_file = self.own / "journal"
        self.journal = None
        self.histories = {}
        self.last_change = {}
        self.written = {}
        self.counters = self.kept_counters()
        if self.own.is_file():
            raise frames.Damage("the journal of this store is outside of this folder")
        if self.journal_file.exists():
            self.read_journal(self.journal_file.read_bytes())

    # The journal.

    def read_journal(self, data):
        self.journal = frames.read(data)
        for frame in self.journal.frames:
            try:
                self.take(frame)
            except (ValueError, IndexError, AttributeError) as error:
                raise frames.Damage(f"frame {frame.sequence}: {error}") from error
        for name, history in self.histories.items():
            self.require_fit(name, history)

    def take(self, frame):
        if frame.kind == "commit":
            self.take_commit(frame.sequence, frame.payload)
        elif frame.kind == "parked":
            name, sequence, payload = payloads.parse_parked(frame.payload)
            self.take_commit(sequence, payload, parked=name)
        else:
            for name, mention in payloads.parse_files(frame.payload, frame.sequence).items():
                if mention.through > frame.sequence != self.journal.first:
                    raise frames.Damage(f"the file of '{name}' includes a commit that is not there")
                (self.take_written if frame.kind == "written" else self.take_checkpoint)(name, mention, frame)

    def take_written(self, name, mention, _):
        if name in self.written and mention.through < self.written[name].through:
            raise frames.Damage(f"the file of '{name}' includes fewer commits than before")
        self.written[name] = mention
        waiting = [commit for commit in self.histories.pop(name, History()).commits if commit[0] > mention.through]
        if waiting:
            self.histories[name] = self.history(mention)
            self.histories[name].commits = waiting

    def take_checkpoint(self, name, mention, frame):
        if name not in self.histories:
            if name not in self.written:
                return
            self.histories[name] = self.history(self.written[name])
        history = self.histories[name]
        if mention.base:
            history.replace_versions(mention.base, frame.sequence)
        history.included[mention.version] = mention.through
        history.is_checkpointed = True

    def history(self, mention):
        """What is known of a table whose file a `written` frame names."""
        if mention.is_saved:
            return History(saved={mention.version: 2**48})
        return History(included={mention.version: mention.through})

    def take_commit(self, sequence, payload, parked=None):
        commit = payloads.parse_commit(payload, lambda name: (self.own / name).read_bytes())
        for name, mention in commit.tables.items():
            written = self.written.get(name)
            if parked not in (None, name) or (written and sequence <= written.through):
                continue
            if mention.at is not None and self.last_change.get(name, 0) > mention.at:
                raise frames.Damage(f"'{name}' changed since commit {mention.at}")
            self.last_change[name] = sequence
            if parked and name not in self.histories:
                self.histories[name] = self.history(written) if written else History()
            elif name not in self.histories:
                if not mention.base and not written:
                    raise frames.Damage(f"'{name}' has no base")
                self.histories[name] = (
                    History(included={mention.base: sequence - 1}) if mention.base else self.history(written))
            elif mention.base and not parked:
                self.histories[name].replace_versions(mention.base, sequence - 1)
            own = [change for change in commit.changes if change.table == name]
            self.histories[name].commits.append((sequence, own))

    def require_fit(self, name, history):
        """The commits of a sound journal can be carried out on a file of a version that it names."""
        data = self.data(name)
        if canonical.version(data) in history.included:
            try:
                self.carried_out(history, data, name)
            except Misfit as misfit:
                raise frames.Damage(f"'{name}': {misfit}") from misfit

    # The tables.

    def kept_counters(self):
        file = self.own / "counters.plist"
        if not file.exists():
            return {}
        return {name: decimal(text) for name, text in canonical.parse(file.read_bytes()).items()}

    def file(self, name):
        bare = self.folder / name
        return bare if bare.is_file() else self.folder / f"{name}.plist"

    def data(self, name):
        file = self.file(name)
        return file.read_bytes() if file.exists() else None

    def names(self):
        """The tables that have a file, or that the journal names."""
        names = set(self.histories) - {".filedb/installed"}
        for file in self.folder.iterdir():
            if file.is_file() and not file.name.startswith("."):
                if file.name.endswith(".plist"):
                    names.add(file.name.removesuffix(".plist"))
                elif file.read_bytes()[:5] == b"<?xml":
                    names.add(file.name)
        return sorted(names)

    def table(self, name):
        """The table as it is after all commits; `None` where there is none.

        Raises Conflict, and ValueError where the file is no table.
        """
        return self.slot(name).table

    def slot(self, name):
        data, history = self.data(name), self.histories.get(name)
        if not history:
            return self.base(data, name)
        try:
            return self.carried_out(history, data, name)
        except (Misfit, ValueError) as error:
            raise Conflict(f"'{name}': {error}") from error

    def base(self, data, name):
        return Slot(None if data is None else Table.of_file(data), self.counters.get(name, 0))

    def carried_out(self, history, data, name):
        slot, version = self.base(data, name), canonical.version(data)
        included = history.included.get(version, 0)
        waited = 0
        if version not in history.included:
            if version not in history.saved and history.is_checkpointed:
                raise Conflict(f"'{name}' was saved after a checkpoint wrote it")
            waited = history.saved.get(version, history.commits[-1][0] if history.commits else 0)
        for sequence, own in history.commits:
            if sequence > included:
                way = OnSavedFile() if sequence <= waited else AsCommitted()
                for change in own:
                    way.apply(change, slot)
        return slot
