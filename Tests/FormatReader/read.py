"""Reads stores by FileDB's documents alone: read.py OUT STORE...

For each store, prints a line of JSON that says what it found. Writes each table, as a checkpoint would write its file,
into the folder OUT/0 for the first store, OUT/1 for the second, and so on.
"""

import json
import sys
from pathlib import Path

from frames import Damage, OtherFormat
from store import Conflict, Store


def read(folder, out):
    try:
        store = Store(folder)
    except Damage as damage:
        return {"journal": "damaged", "why": str(damage), "tables": {}}
    except OtherFormat as other:
        return {"journal": "other format", "why": str(other), "tables": {}}
    states = {name: state(store, name, out) for name in store.names()}
    return {"journal": "sound", "why": "", "tables": {name: found for name, found in states.items() if found}}


def state(store, name, out):
    """What a table is; `None` where there is none."""
    try:
        table = store.table(name)
    except Conflict:
        return "conflict"
    except ValueError:
        return "not a table"
    if table is None:
        return None
    (out / f"{name}.plist").write_bytes(table.file())
    return "sound"


if __name__ == "__main__":
    for number, folder in enumerate(sys.argv[2:]):
        tables = Path(sys.argv[1]) / str(number)
        tables.mkdir(parents=True)
        print(json.dumps(read(folder, tables)))
