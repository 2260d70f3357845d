import FileDB
import FileDBEssentials
import FileDBExchange
import FileDBPlist

/// The names in a store that a command line may use. What cannot be read is left out.
struct StoreCompletion {
  private static let mostRecords = 1_000
  private static let mostIDs = 200

  private let line: ParsedLine

  init(_ line: ParsedLine) { self.line = line }

  private var storeFolder: URL {
    let environment = ProcessInfo.processInfo.environment
    let path = line.values["--store"] ?? environment["FILEDB_STORE"].flatMap { $0.isEmpty ? nil : $0 } ?? "."
    return URL(fileURLWithPath: Self.expanded(path), isDirectory: true)
  }

  /// Expands `~`, because the shell would only do so when the command runs.
  private static func expanded(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else {
      return path
    }
    return home + path.dropFirst()
  }

  var tables: [Completion.Candidate] {
    guard let store = try? RecordStore(at: storeFolder), let names = try? store.tableNames else { return [] }
    return names.map { Completion.Candidate(text: $0) }
  }

  /// The table that the line names, at the place given by the command's usage.
  private var snapshot: TableSnapshot<Fields>? {
    let place = line.command.positionals.firstIndex {
      $0.valueName == "table" || $0.valueName == "table|id[.field]"
    }
    guard let place, place < line.positionals.count else { return nil }
    let reference = TableReference(argument: Self.expanded(line.positionals[place]))
    let folder =
      reference.isPath ? URL(fileURLWithPath: reference.argument).deletingLastPathComponent() : storeFolder
    return try? RecordStore(at: folder).table(reference.name).snapshot()
  }

  /// The ids, each with the first text of its record, which tells people more than the number.
  var ids: [Completion.Candidate] {
    guard let snapshot else { return [] }
    return snapshot.prefix(Self.mostIDs).map { record in
      let texts: [String] = record.fields.dictionary.compactMap(\.value.string)
      let note = texts.first { !$0.isEmpty } ?? ""
      return Completion.Candidate(text: "\(record.id)", note: String(note.prefix(60)))
    }
  }

  /// The declared fields in their order, and then the others.
  var fields: [Completion.Candidate] {
    guard let snapshot else { return [] }
    let schema = snapshot.knownSchema
    var names = PlistDictionary()
    for record in snapshot.prefix(Self.mostRecords) {
      for field in record.fields.dictionary { names[field.key] = .bool(true) }
    }
    let others = names.keys.filter { schema?[$0] == nil }
    return (schema?.fields ?? []).map {
      Completion.Candidate(text: Self.typed($0.name), note: $0.title ?? $0.type?.rawValue ?? "")
    }
      + others.map { Completion.Candidate(text: Self.typed($0)) }
  }

  /// A name as it must be typed in place of a field.
  private static func typed(_ name: String) -> String {
    JSONText.fieldName(name.replacing(["\\": #"\\"#, ".": #"\."#, "[": #"\["#]))
  }

  /// The possible names after a comma-separated list that is being typed.
  func list(_ typed: String, of names: [Completion.Candidate]) -> [Completion.Candidate] {
    let start = typed.unicodeScalars.lastIndex(of: ",").map { String(typed[...$0]) } ?? ""
    let known = Set(start.parts(between: ","))
    return names.filter { !known.contains($0.text) }.map {
      Completion.Candidate(text: start + $0.text, note: $0.note)
    }
  }

  func sortKeys(_ typed: String) -> [Completion.Candidate] {
    let last = typed.parts(between: ",").last ?? ""
    return last.hasPrefix("-")
      ? list(typed, of: fields.map { Completion.Candidate(text: "-" + $0.text, note: $0.note) })
      : list(typed, of: fields)
  }

  /// `FIELD=`, and the types after `FIELD:`.
  func assignments(_ typed: String) -> [Completion.Candidate] {
    if typed.has("=") { return [] }
    if let colon = typed.unicodeScalars.firstIndex(of: ":") {
      return FieldType.allCases.map { Completion.Candidate(text: "\(typed[...colon])\($0.rawValue)=") }
    }
    return fields.map { Completion.Candidate(text: $0.text + "=", note: $0.note) }
  }
}
