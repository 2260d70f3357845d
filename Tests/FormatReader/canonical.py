"""Property lists: what Format.md says about their bytes. Also checksums and versions, from Journal.md."""

import base64
import datetime
import math
import plistlib

HEADER = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b'<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
    b'<plist version="1.0">\n'
)
FOOTER = b"</plist>\n"


def parse(data):
    """The root of an XML property list. Raises ValueError where the bytes are none."""
    try:
        return plistlib.loads(data, fmt=plistlib.FMT_XML)
    except Exception as error:  # plistlib raises errors of many types.
        raise ValueError(f"not a property list: {error}") from error


def document(root):
    return HEADER + lines(root, 0) + FOOTER


def parse_lines(data):
    """The value of an element that was cut out of a property list."""
    return parse(HEADER + data + FOOTER)


def lines(value, level):
    """The canonical lines of `value`, indented by `level` tabs."""
    tabs = b"\t" * level
    if isinstance(value, dict):
        if not value:
            return tabs + b"<dict/>\n"
        parts = [tabs, b"<dict>\n"]
        for key in sorted(value, key=lambda key: key.encode()):
            parts += [tabs, b"\t<key>", escaped(key), b"</key>\n", lines(value[key], level + 1)]
        return b"".join(parts + [tabs, b"</dict>\n"])
    if isinstance(value, list):
        if not value:
            return tabs + b"<array/>\n"
        elements = [lines(element, level + 1) for element in value]
        return b"".join([tabs, b"<array>\n", *elements, tabs, b"</array>\n"])
    if isinstance(value, bytes):
        return tabs + b"<data>\n" + base64_lines(value, level) + tabs + b"</data>\n"
    return tabs + scalar(value) + b"\n"


def scalar(value):
    if isinstance(value, bool):
        return b"<true/>" if value else b"<false/>"
    if isinstance(value, str):
        return b"<string>" + escaped(value) + b"</string>"
    if isinstance(value, int):
        return b"<integer>%d</integer>" % value
    if isinstance(value, float):
        return b"<real>" + real(value) + b"</real>"
    if isinstance(value, datetime.datetime):
        return b"<date>" + date(value) + b"</date>"
    raise ValueError(f"{type(value)} is not a type of property lists")


def escaped(text):
    for character, escape in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")):
        text = text.replace(character, escape)
    return text.encode()


def real(number):
    if math.isnan(number):
        return b"nan"
    if math.isinf(number):
        return b"+infinity" if number > 0 else b"-infinity"
    return repr(number).removesuffix(".0").encode()


def date(moment):
    return b"%04d-%02d-%02dT%02d:%02d:%02dZ" % (
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)


def base64_lines(data, level):
    tabs = min(level, 8)
    width = 76 - 8 * tabs
    text = base64.b64encode(data)
    return b"".join(b"\t" * tabs + text[at:at + width] + b"\n" for at in range(0, len(text), width))


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def checksum(data):
    """The CRC-32C of `data`."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def hexadecimal(data):
    return f"{checksum(data):08x}"


def version(data):
    """Identifies the content of a file; `None` stands for no file."""
    return "absent" if data is None else f"{len(data)}:{hexadecimal(data)}"
