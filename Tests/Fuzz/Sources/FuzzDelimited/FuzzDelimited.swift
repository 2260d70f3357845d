import FileDB
import FuzzSupport

// Testable, for the bytes of a line in each encoding.
@testable import FileDBExchange

// The first three bytes of an input say how the rest is laid out.
@main enum FuzzDelimited {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  guard let format = format(bytes) else { return false }
  let text = Array(bytes.dropFirst(3))
  let whole = Reading([text], format)
  var choices = Choices(bytes)
  let cut = Reading(text.pieces(&choices), format)
  if whole != cut { fail("whole: \(whole)\ncut: \(cut)") }
  checkRewriting(whole.rows, format)
  return true
}

private func format(_ bytes: [UInt8]) -> DelimitedFormat? {
  // NUL between fields looks like UTF-16.
  guard bytes.count >= 3, (1..<0x80).contains(bytes[0]), bytes[1] != 0 else { return nil }
  // A byte that is not a character stands for no quote.
  let encodings = DelimitedFormat.Encoding.allCases
  let quote = bytes[1] < 0x80 ? Character(Unicode.Scalar(bytes[1])) : nil
  return DelimitedFormat(
    separator: Character(Unicode.Scalar(bytes[0])), quote: quote,
    encoding: encodings[Int(bytes[2]) % encodings.count])
}

/// What was read of a text, up to the error that ended it.
private struct Reading: Equatable {
  var rows: [DelimitedReader.Row] = []
  var error: String?

  init(_ pieces: [[UInt8]], _ format: DelimitedFormat) {
    var rest = pieces[...]
    var reader = DelimitedReader(name: "text", format: format) { rest.popFirst() }
    do {
      while let row = try reader.next() { rows.append(row) }
    } catch {
      self.error = "\(error)"
    }
  }

  static func == (left: Reading, right: Reading) -> Bool {
    // `String` would take two spellings of one character for the same.
    left.error == right.error && left.rows.map(\.line) == right.rows.map(\.line)
      && left.rows.map(\.bytes) == right.rows.map(\.bytes)
  }
}

extension DelimitedReader.Row {
  fileprivate var bytes: [[UInt8]] { fields.map { Array($0.utf8) } }
}

/// Rows that were read are the same when they are written and read again.
private func checkRewriting(_ rows: [DelimitedReader.Row], _ format: DelimitedFormat) {
  // Only a quote can tell a first field that begins with U+FEFF from a byte order mark.
  if format.quote == nil, rows.first?.fields.first?.unicodeScalars.first == "\u{FEFF}" { return }
  // No record can hold NUL, and text with it may look like UTF-16.
  if rows.contains(where: { $0.fields.contains { $0.utf8.contains(0) } }) { return }
  let writer = DelimitedWriter(format: format)
  do {
    let written = try writer.byteOrderMark + rows.flatMap { try writer.bytes($0.fields) }
    let again = Reading([written], format)
    if let error = again.error { fail("\(error)\nin: \(written)") }
    if again.rows.map(\.bytes) != rows.map(\.bytes) {
      fail("read: \(rows)\nwritten: \(written)\nread again: \(again.rows)")
    }
  } catch {
    fail("\(error)\nin: \(rows)")
  }
}
