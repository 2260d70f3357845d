import Foundation

/// The forms in which records leave a table and come into one. <doc:Exchange> says what each of them can hold.
public enum ExchangeFormat: Sendable {
  /// A line for each record, after one with the names of the fields.
  case delimited(DelimitedFormat, hasHeader: Bool = true)
  /// An array of objects.
  case json
  /// An object a line.
  case ndjson
  /// An array of dictionaries, in XML or in binary; either is read as what it is.
  case plist
  case binaryPlist

  package var isPropertyList: Bool {
    switch self {
    case .plist, .binaryPlist: true
    case .delimited, .json, .ndjson: false
    }
  }

  /// The format that goes with a file's extension: csv, tsv, tab, json, ndjson, jsonl or plist.
  public init?(fileExtension: String) {
    switch fileExtension.lowercased() {
    case "csv": self = .delimited(.csv)
    case "tsv", "tab": self = .delimited(.tsv)
    case "json": self = .json
    case "ndjson", "jsonl": self = .ndjson
    case "plist": self = .plist
    default: return nil
    }
  }

  /// The format of a file that begins so; `nil` where it may be delimited text.
  /// - Parameter bytes: as ``ImportSource/beginning(_:)`` gives them.
  package init?(beginning bytes: [UInt8]) {
    let signatures: [(String, ExchangeFormat)] = [
      ("[", .json), ("{", .ndjson), ("bplist", .binaryPlist),
      ("<?xml", .plist), ("<plist", .plist), ("<!DOCTYPE plist", .plist),
    ]
    guard let known = signatures.first(where: { bytes.starts(with: $0.0.utf8) }) else { return nil }
    self = known.1
  }
}
