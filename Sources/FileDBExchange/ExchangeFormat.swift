import FileDBEssentials

/// The formats of imports and exports. <doc:Exchange> describes what each of them can hold.
public enum ExchangeFormat: Sendable {
  /// One line for each record. By default, the first line has the names of the fields.
  case delimited(DelimitedFormat, hasHeader: Bool = true)
  /// An array of objects. An import also reads objects one after another without an array, on any number of lines.
  case json
  /// One object per line.
  case ndjson
  /// An array of dictionaries, as an XML or a binary property list. An import reads either kind with both formats.
  case plist
  case binaryPlist

  package var isPropertyList: Bool {
    switch self {
    case .plist, .binaryPlist: true
    case .delimited, .json, .ndjson: false
    }
  }

  /// The format for a file's extension: csv, tsv, tab, json, ndjson, jsonl or plist; `nil` for any other extension.
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

  /// The format of a file with this beginning; `nil` if it may be delimited text.
  /// - Parameter bytes: the result of ``ImportSource/beginning(_:)``.
  package init?(beginning bytes: [UInt8]) {
    let signatures: [(String, ExchangeFormat)] = [
      ("[", .json), ("{", .ndjson), ("bplist", .binaryPlist),
      ("<?xml", .plist), ("<plist", .plist), ("<!DOCTYPE plist", .plist),
    ]
    guard let known = signatures.first(where: { bytes.starts(with: $0.0.utf8) }) else { return nil }
    self = known.1
  }

  /// The format of a source without a name, from its beginning; `nil` if it may be delimited text.
  package static func format(of source: ImportSource, beginning bytes: [UInt8]) throws -> ExchangeFormat? {
    guard case .ndjson? = ExchangeFormat(beginning: bytes) else { return ExchangeFormat(beginning: bytes) }
    // JSON is one object on several lines, or many of them, as `jq '.[]'` prints them.
    return try JSONRows.beginWithWholeLine(source) ? .ndjson : .json
  }
}
