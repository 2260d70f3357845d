import FileDB
import FuzzSupport

// Testable, for how a row is read is nobody else's matter.
@testable import FileDBExchange
@testable import FileDBTables

// An input is a file of JSON or NDJSON.
@main enum FuzzJSON {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  var choices = Choices(bytes)
  let pieces = bytes.pieces(&choices)
  for format in [ExchangeFormat.json, .ndjson] {
    let whole = Reading([bytes], format)
    let cut = Reading(pieces, format)
    if whole != cut { fail("whole: \(whole)\ncut: \(cut)") }
    checkRewriting(whole.rows.compactMap { try? $0.get() })
  }
  checkValue(bytes)
  return true
}

/// What was read of a file, up to the error that ended it.
private struct Reading: Equatable {
  var rows: [ImportRow.Reading] = []
  var error: String?

  init(_ pieces: [[UInt8]], _ format: ExchangeFormat) {
    let source = ImportSource(name: "text") {
      var rest = pieces[...]
      return { rest.popFirst() }
    }
    do {
      switch format {
      case .json: try JSONRows.readObjects(source) { rows.append($0) }
      default: try JSONRows.readLines(source) { rows.append($0) }
      }
    } catch {
      self.error = "\(error)"
    }
  }

  static func == (left: Reading, right: Reading) -> Bool {
    left.error == right.error && left.rows.elementsEqual(right.rows) { "\($0.shown)" == "\($1.shown)" }
  }
}

extension ImportRow.Reading {
  fileprivate var shown: String {
    switch self {
    case .success(let row): "\(row.origin.text) \(row.fields) \(row.names) \(row.cleared)"
    case .failure(let error): "\(error)"
    }
  }
}

/// Records that were read and exported read back equal.
private func checkRewriting(_ rows: [ImportRow]) {
  var records: [(id: RecordID<Fields>, fields: Fields)] = []
  for var row in rows {
    // A row with another id than a number is refused.
    guard (try? row.takeID(file: "text")) != nil else { continue }
    records.append((row.id ?? RecordID<Fields>(rawValue: 7)!, row.fields))
  }
  let lines = records.map { JSONText.object(id: $0.id, $0.fields) }
  let list = "[\n  " + lines.joined(separator: ",\n  ") + "\n]\n"
  for (text, format) in [(list, ExchangeFormat.json), (lines.map { $0 + "\n" }.joined(), .ndjson)] {
    let again = Reading([Array(text.utf8)], format)
    if let error = again.error { fail("\(error) in: \(text)") }
    if again.rows.count != records.count { fail("\(again.rows.count) rows in: \(text)") }
    for (record, reading) in zip(records, again.rows) {
      do {
        var row = try reading.get()
        try row.takeID(file: "text")
        if row.id != record.id || row.fields != record.fields { fail("\(record), read again: \(row)") }
      } catch { fail("\(error) in: \(text)") }
    }
  }
}

/// Any value that was read is the same when it is written and read again.
private func checkValue(_ bytes: [UInt8]) {
  guard let text = String(validating: bytes, as: UTF8.self), let value = try? JSONParser.parse(text) else {
    return
  }
  let written = JSONText.value(value)
  do {
    let again = try JSONParser.parse(written)
    if again != value { fail("\(value), read again: \(String(describing: again))") }
  } catch { fail("\(error) in: \(written)") }
}
