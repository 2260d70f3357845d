"""TinyDB, with its default storage: one JSON file that is read and written as a whole for each call."""

import csv
import glob
import os
import plistlib
import random

from measure import growth, main, paced, timed
from tinydb import TinyDB

COMMITS = 200
TRANSACTION = 10_000
PAGE = 50


def database(data, scratch):
    """The sample in TinyDB's form, made when it is first asked for. JSON has no dates: they become text."""
    path = os.path.join(scratch, "sample.json")
    if not os.path.exists(path):
        with open(data, "rb") as file:
            rows = plistlib.load(file)["data"]
        for row in rows:
            del row["wgFileDbSecretId"]
            row["due"] = row["due"].isoformat()
        TinyDB(path).insert_multiple(rows)
    return path


def opened(data, scratch):
    path = database(data, scratch)

    def work():
        db = TinyDB(path)
        return len(db), next(iter(db))

    seconds, (count, first) = timed(work)
    assert count > 0 and first["title"].startswith("Entry 0")
    return seconds


def rows(data, scratch):
    path = database(data, scratch)
    seconds, read = timed(lambda: TinyDB(path).all())
    assert read[-1]["title"].startswith("Entry %d" % (len(read) - 1))
    return seconds


def record(data, scratch):
    db = TinyDB(database(data, scratch))
    ids = [random.randint(1, len(db)) for _ in range(1000)]
    read = []
    seconds, done = paced(ids, lambda id: read.append(db.get(doc_id=id)))
    assert read[done - 1]["title"].startswith("Entry %d" % (ids[done - 1] - 1))
    return seconds


def page(data, scratch):
    db = TinyDB(database(data, scratch))
    starts = [random.randint(0, max(0, len(db) - PAGE)) for _ in range(1000)]
    read = []
    seconds, done = paced(starts, lambda row: read.append(db.all()[row:row + PAGE]))
    assert read[done - 1][0]["title"].startswith("Entry %d" % starts[done - 1])
    return seconds


def fresh(number):
    return {
        "title": "Fresh %d" % number, "note": "milk butter", "amount": number, "price": 1.25,
        "due": "2026-01-01T00:00:00", "isDone": False,
    }


def edited(data, scratch):
    """A database to change, which has its size again after each run, and its ids."""
    db = TinyDB(database(data, scratch))
    return db, [row.doc_id for row in db]


def commit_bottom(data, scratch):
    db, ids = edited(data, scratch)
    added = []
    seconds, done = paced(range(COMMITS), lambda number: added.append(db.insert(fresh(number))))
    assert len(db) == len(ids) + done and db.get(doc_id=added[-1])["amount"] == done - 1
    db.remove(doc_ids=added)
    return seconds


def commit_update(data, scratch):
    db, ids = edited(data, scratch)
    chosen = random.sample(ids, min(COMMITS, len(ids)))
    seconds, done = paced(chosen, lambda id: db.update({"amount": -id}, doc_ids=[id]))
    assert db.get(doc_id=chosen[done - 1])["amount"] == -chosen[done - 1]
    return seconds


def commit_delete(data, scratch):
    db, ids = edited(data, scratch)
    chosen = random.sample(ids, min(COMMITS, len(ids)))
    seconds, done = paced(chosen, lambda id: db.remove(doc_ids=[id]))
    assert len(db) == len(ids) - done
    db.insert_multiple(fresh(number) for number in range(done))
    return seconds


def transaction_bottom(data, scratch):
    db, ids = edited(data, scratch)
    count = min(TRANSACTION, len(ids))
    seconds, added = timed(lambda: db.insert_multiple(fresh(number) for number in range(count)))
    assert len(db) == len(ids) + count
    db.remove(doc_ids=added)
    return seconds / count


def transaction_update(data, scratch):
    db, ids = edited(data, scratch)
    chosen = random.sample(ids, min(TRANSACTION, len(ids)))
    seconds, _ = timed(lambda: db.update({"amount": -7}, doc_ids=chosen))
    assert db.get(doc_id=chosen[-1])["amount"] == -7
    return seconds / len(chosen)


def transaction_delete(data, scratch):
    db, ids = edited(data, scratch)
    chosen = random.sample(ids, min(TRANSACTION, len(ids)))
    seconds, _ = timed(lambda: db.remove(doc_ids=chosen))
    assert len(db) == len(ids) - len(chosen)
    db.insert_multiple(fresh(number) for number in range(len(chosen)))
    return seconds / len(chosen)


def import_tables(data, scratch):
    path = os.path.join(scratch, "usda.json")

    def work():
        db = TinyDB(path)
        for name in sorted(glob.glob(os.path.join(data, "*.txt"))):
            with open(name, encoding="cp1252", newline="") as file:
                rows = csv.reader(file, delimiter="^", quotechar="~")
                db.table(os.path.basename(name)[:-4]).insert_multiple(
                    {"column%d" % column: text for column, text in enumerate(row)} for row in rows)
        return db

    seconds, db = timed(work)
    assert len(db.table("FD_GROUP")) == 25
    os.remove(path)
    return seconds


def memory(data, scratch):
    """TinyDB keeps nothing; what it adds is what its cache would hold: all documents."""
    path = database(data, scratch)
    return growth(lambda: TinyDB(path).all())


main({
    "make": lambda data, scratch: timed(lambda: database(data, scratch))[0],
    "open": opened,
    "rows": rows,
    "record": record,
    "page": page,
    "commit-bottom": commit_bottom,
    "commit-update": commit_update,
    "commit-delete": commit_delete,
    "transaction-bottom": transaction_bottom,
    "transaction-update": transaction_update,
    "transaction-delete": transaction_delete,
    "import": import_tables,
    "memory": memory,
})
