"""How a change acts on a table (Journal.md, "Changes" and "Which commits a file includes")."""

from dataclasses import dataclass

import canonical
from table import Misfit, Table


@dataclass
class Slot:
    """A table by name: there, or not; then with the counter of the one that was dropped."""
    table: Table = None
    kept_counter: int = 0

    def existing(self):
        if self.table is None:
            raise Misfit("the table is missing")
        return self.table


class AsCommitted:
    """Carries changes out on the table that they were made for."""

    def apply(self, change, slot):
        if change.word == "create":
            if slot.table is not None:
                raise Misfit("the table exists")
            slot.table = Table()
            slot.table.counter = slot.kept_counter
        elif change.word == "drop":
            self.require_content(slot.existing(), change.words)
            slot.table, slot.kept_counter = None, slot.table.counter
        else:
            self.change(slot.existing(), change)

    def change(self, table, change):
        words = change.words
        match change.word:
            case "insert":
                table.insert(self.place(table.order, words[2], words[4]), change.records)
            case "replace":
                identifier, data = change.records[0]
                require_record(table, identifier, words[1])
                table.replace(identifier, data)
            case "remove":
                formers = [word.split(":", 1) for word in words[1:]]
                for identifier, former in formers:
                    require_record(table, int(identifier), former)
                table.remove([int(identifier) for identifier, _ in formers])
            case "move":
                identifier = int(words[0])
                self.require_moved(table, identifier, words[6])
                rest = [other for other in table.order if other != identifier]
                table.move(identifier, self.place(rest, words[2], words[4]))
            case "reorder":
                table.reorder([int(word) for word in words])
            case "removeAll":
                self.require_content(table, words)
                table.remove_all()
            case "truncate":
                self.require_content(table, words)
                table.truncate()
            case "counter":
                table.counter = max(table.counter, int(words[0]))
            case "schema" | "noSchema":
                if table.schema_checksum() != words[1]:
                    raise Misfit("the schema is another")
                table.schema = change.value
            case _:
                raise Misfit(f"'{change.word}' is not a change")

    def place(self, order, index, above):
        """Where a record goes among those of `order`."""
        return int(index)

    def require_moved(self, table, identifier, former):
        require_record(table, identifier, former)

    def require_content(self, table, words):
        pass


class OnSavedFile(AsCommitted):
    """Carries changes out on a file that another program saved meanwhile, where they fit."""

    def place(self, order, index, above):
        if above == "-":
            return 0
        if int(above) not in order:
            raise Misfit(f"record {above} is missing")
        return order.index(int(above)) + 1

    def require_moved(self, table, identifier, former):
        table.require(identifier)

    def require_content(self, table, words):
        if table.content().split(" ")[:2] != words[1:3]:
            raise Misfit("the table has other records")


def require_record(table, identifier, former):
    table.require(identifier)
    if canonical.hexadecimal(table.records[identifier]) != former.split(":")[0]:
        raise Misfit(f"record {identifier} is another")
