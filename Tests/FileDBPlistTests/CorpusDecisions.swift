import Foundation

@testable import FileDBPlist

/// What we do with a file where a corpus leaves it open, or where we differ on purpose, and why.
///
/// This is the whole of the differences: any other file is read or refused as its manifest says.
enum Decision {
  case accepted(String)
  case refused(String)

  var isAccepted: Bool { if case .accepted = self { true } else { false } }
}

let corpusDecisions: [String: Decision] = {
  var decisions = [
    // Dates.
    "corner/date-y0.plist": Decision.refused("years run from 0001 to 9999"),
    "corner/date-yneg.plist": .refused("years run from 0001 to 9999"),
    "corner/date-y5.plist": .refused("years run from 0001 to 9999"),
    "swift-foundation/inline/15.plist": .refused("years run from 0001 to 9999"),
    "swift-foundation/inline/16.plist": .refused("there is no 32 January; nothing rolls over"),

    // Numbers.
    "corner/int-i64max1.plist": .accepted("an integer above Int64.max is kept as UInt64"),
    "corner/int-u64max.plist": .accepted("an integer above Int64.max is kept as UInt64"),
    "corner/int-wstrail.plist": .accepted("white space around a number loses nothing"),
    "corner/int-comment.plist": .accepted("comments may stand anywhere"),
    "corner/int-cdata.plist": .refused("CDATA belongs into text only"),
    "corner/int-charref.plist": .accepted("a character reference is the character"),
    "corner/real-huge.plist": .refused("1e400 would read as infinity"),
    "corner/real-tiny.plist": .accepted("1e-400 is nearest to 0"),
    "corner/real-trail.plist": .accepted("white space around a number loses nothing"),

    // Data.
    "corner/data-bits.plist": .accepted("bits that no byte has room for lose nothing"),
    "corner/data-comment.plist": .accepted("comments may stand anywhere"),
    "corner/data-cdata.plist": .refused("CDATA belongs into text only"),
    "corner/data-charref.plist": .accepted("a character reference is the character"),
    "plist.js/inline/09.plist": .accepted("<data/> is data of no bytes"),

    // Text.
    "corner/str-comment.plist": .accepted("comments may stand anywhere"),
    "corner/str-pi.plist": .accepted("processing instructions may stand anywhere"),
    "corner/str-attr.plist": .accepted("attributes say nothing in a property list"),
    "corner/str-xmlspace.plist": .accepted("attributes say nothing in a property list"),
    "corner/size-string-11m.plist": .accepted("a string may have up to 64 MB"),
    "plist.js/inline/08.plist": .accepted("comments may stand anywhere"),
    "swift-foundation/JSON/javascriptcore_tests.plist": .refused("XML has no &#8;"),

    // Dictionaries, arrays, flags.
    "corner/dict-key-comment.plist": .accepted("comments may stand anywhere"),
    "corner/dict-cdata-ws.plist": .refused("CDATA belongs into text only"),
    "corner/bool-ws.plist": .accepted("white space in an empty element loses nothing"),
    "cpython/inline/04.plist": .refused("<key> belongs into a dictionary"),
    "cpython/inline/05.plist": .refused("<key> belongs into a dictionary"),
    "cpython/inline/06.plist": .refused("<key> belongs into a dictionary"),
    "plist.js/inline/00.plist": .refused("a property list has no <null>"),
    "plist.js/inline/17.plist": .refused("a key must have a value"),
    "plist.js/inline/18.plist": .refused("a key must have a value"),
    "plist.js/inline/22.plist": .accepted("__proto__ is a key like any other"),

    // Documents.
    "corner/doc-version2.plist": .accepted("nobody has ever given the version a meaning"),
    "corner/doc-xml11.plist": .refused("libxml2 reads XML 1.0"),
    "corner/doc-wrongdtd.plist": .accepted("the document type is not looked into"),
    "corner/doc-ns.plist": .accepted("a default namespace changes nothing"),
    "corner/size-comment-12m.plist": .refused("libxml2 looks for the end of a comment in 10 MB at most"),
    "swift-corelibs-foundation/PropertyList-1.0.dtd": .refused("it is a document type definition"),

    // Encodings.
    "corner/enc-utf16le-nobom.plist": .refused("UTF-16 must have a byte order mark"),
    "corner/enc-utf16-declutf8.plist": .accepted("the byte order mark is sure, the declaration is not"),
    "corner/enc-latin1.plist": .refused("UTF-8 and UTF-16 only"),
    "corner/enc-win1252.plist": .refused("UTF-8 and UTF-16 only"),
    "corner/enc-macroman.plist": .refused("UTF-8 and UTF-16 only"),
    "corner/enc-shiftjis.plist": .refused("UTF-8 and UTF-16 only"),
    "swift-foundation/bom/utf32be.plist": .refused("UTF-8 and UTF-16 only"),
  ]
  for depth in [64, 127, 128, 129, 255, 256] {
    decisions["corner/depth-array-\(depth).plist"] = .accepted("256 levels are allowed")
  }
  for depth in [257, 511, 512, 513, 1000, 5000, 100000] {
    decisions["corner/depth-array-\(depth).plist"] = .refused("256 levels are allowed")
  }
  // swift-foundation tests its scanner with bare values.
  for number in ["01", "03", "06"] + (17...25).map(String.init) {
    decisions["swift-foundation/inline/\(number).plist"] = .refused("a property list begins with <plist>")
  }
  return decisions
}()

/// Values that Foundation's reader refuses or reads otherwise, where the right one is known.
let valuesFoundationMisses: [String: PlistValue] = [
  "corner/bool-ws.plist": true,
  "corner/data-charref.plist": .data(Data("ABC".utf8)),
  "corner/data-comment.plist": .data(Data("ABC".utf8)),
  "corner/data-selfclose.plist": .data(Data()),
  "corner/dict-cfuid.plist": ["CF$UID": 1],
  "corner/dict-dup-nfc.plist": ["\u{E9}": 1, "e\u{301}": 2],
  "corner/dict-key-comment.plist": ["ab": 1],
  "corner/int-charref.plist": 12,
  "corner/int-comment.plist": 12,
  "corner/int-wstrail.plist": 7,
  "corner/real-trail.plist": 1.5,
  "corner/str-charref-long.plist": "A",
  "corner/str-comment.plist": "ab",
  "corner/str-cr.plist": "a\nb",
  "corner/str-crlf.plist": "a\nb",
  "corner/str-pi.plist": "ab",
  "plist.js/inline/08.plist": "a string",
  "plist.js/inline/09.plist": .data(Data()),
]
