"""A table as a value, the changes of Journal.md, and a table's file as in Format.md."""

import canonical

ID = "wgFileDbSecretId"
LARGEST = 2**63 - 1


class Misfit(Exception):
    """A change cannot be carried out."""


def decimal(text):
    """A decimal number without a sign or leading zeros, from 0 to 2^63-1."""
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    if not isinstance(text, str) or not text.isascii() or not text.isdecimal():
        raise ValueError(f"'{text}' is not a number")
    if text != str(int(text)) or int(text) > LARGEST:
        raise ValueError(f"'{text}' is not a number")
    return int(text)


class Table:
    """Records in order, each as an id and its canonical bytes."""

    def __init__(self):
        self.counter = 0
        self.order = []
        self.records = {}
        self.schema = None
        self.others = {}

    @staticmethod
    def of_file(data):
        """Raises ValueError where the bytes are not a sound table."""
        root = canonical.parse(data)
        if not isinstance(root, dict) or not isinstance(root.get("data"), list):
            raise ValueError("not a table")
        table = Table()
        table.counter = decimal(root.get("autoincrement"))
        for fields in root["data"]:
            if not isinstance(fields, dict):
                raise ValueError("a record is not a dict")
            identifier = decimal(fields.get(ID))
            if identifier in table.records:
                raise ValueError(f"two records have the id {identifier}")
            table.order.append(identifier)
            table.records[identifier] = record(fields, identifier)
        table.counter = max([table.counter, *table.order])
        known = ("autoincrement", "data", "index", "schema")
        table.others = {key: value for key, value in root.items() if key not in known}
        if "schema" in root:
            table.schema = canonical.lines(root["schema"], 1)
        return table

    def file(self):
        """The bytes that a checkpoint writes."""
        root = {**self.others, "autoincrement": str(self.counter)}
        root["index"] = {str(identifier): str(index) for index, identifier in enumerate(self.order)}
        parts = {key: canonical.lines(value, 1) for key, value in root.items()}
        records = b"".join(self.records[identifier] for identifier in self.order)
        parts["data"] = b"\t<array>\n" + records + b"\t</array>\n" if records else b"\t<array/>\n"
        if self.schema is not None:
            parts["schema"] = self.schema
        body = b"".join(
            b"\t<key>" + canonical.escaped(key) + b"</key>\n" + parts[key]
            for key in sorted(parts, key=lambda key: key.encode()))
        return canonical.HEADER + b"<dict>\n" + body + b"</dict>\n" + canonical.FOOTER

    # What the words of a change say about the table before it.

    def above(self, index):
        """The id of the record above the place `index`, as text."""
        return str(self.order[index - 1]) if index > 0 else "-"

    def mark(self, identifier):
        index = self.order.index(identifier)
        return f"{canonical.hexadecimal(self.records[identifier])}:{self.above(index)}"

    def content(self):
        records = b"".join(self.records[identifier] for identifier in self.order)
        return f"{len(self.order)} {canonical.hexadecimal(records)} counter {self.counter}"

    def schema_checksum(self):
        return "-" if self.schema is None else canonical.hexadecimal(self.schema)

    # The ways in which a table changes.

    def insert(self, index, records):
        if not 0 <= index <= len(self.order):
            raise Misfit(f"no place {index}")
        for offset, (identifier, data) in enumerate(records):
            if identifier in self.records:
                raise Misfit(f"id {identifier} is in use")
            self.order.insert(index + offset, identifier)
            self.records[identifier] = data
            self.counter = max(self.counter, identifier)

    def replace(self, identifier, data):
        self.require(identifier)
        self.records[identifier] = data

    def remove(self, identifiers):
        for identifier in identifiers:
            self.require(identifier)
            del self.records[identifier]
        gone = set(identifiers)
        self.order = [identifier for identifier in self.order if identifier not in gone]

    def move(self, identifier, index):
        self.require(identifier)
        if not 0 <= index < len(self.order):
            raise Misfit(f"no place {index}")
        self.order.remove(identifier)
        self.order.insert(index, identifier)

    def reorder(self, identifiers):
        if sorted(identifiers) != sorted(self.order):
            raise Misfit("the records are others")
        self.order = list(identifiers)

    def remove_all(self):
        self.order, self.records = [], {}

    def truncate(self):
        self.remove_all()
        self.counter = 0

    def require(self, identifier):
        if identifier not in self.records:
            raise Misfit(f"record {identifier} is missing")


def record(fields, identifier):
    """The canonical bytes of a record."""
    return canonical.lines({**fields, ID: str(identifier)}, 2)
