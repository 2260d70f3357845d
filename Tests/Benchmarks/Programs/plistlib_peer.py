"""Python's own reader and writer of property lists."""

import os
import plistlib

from measure import growth, main, timed


def read(data):
    with open(data, "rb") as file:
        return plistlib.load(file)


def check(root):
    assert len(root["data"]) == len(root["index"]) and root["data"][0]["title"].startswith("Entry 0")


def parse(data, scratch):
    with open(data, "rb") as file:
        document = file.read()
    seconds, root = timed(lambda: plistlib.loads(document))
    check(root)
    return seconds


def opened(data, scratch):
    seconds, root = timed(lambda: read(data))
    check(root)
    return seconds


def serialize(data, scratch):
    root = read(data)
    seconds, document = timed(lambda: plistlib.dumps(root))
    check(plistlib.loads(document))
    return seconds


def checkpoint(data, scratch):
    root = read(data)
    copy = os.path.join(scratch, "sample.plist")

    def write():
        with open(copy + ".new", "wb") as file:
            plistlib.dump(root, file)
        os.replace(copy + ".new", copy)

    seconds, _ = timed(write)
    check(read(copy))
    return seconds


main({
    "parse": parse,
    "open": opened,
    "serialize": serialize,
    "checkpoint": checkpoint,
    "memory": lambda data, scratch: growth(lambda: read(data)),
})
