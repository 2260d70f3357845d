import FileDB
import FileDBExchange
import Foundation
import FuzzDriver

@main
struct FuzzDelimited {
  static func main() { exit(fuzz { start, count in fuzzDelimited(start, count) }) }
}

/// The reader must not crash or hang on any bytes, give the same rows however they are cut, and read again what the writer
/// makes of them.
private func fuzzDelimited(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count >= 2 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let separators: [Character] = [",", "\t", "^", "|", "a"]
  let quotes: [Character?] = ["\"", "~", nil, "'"]
  let encoding: DelimitedFormat.Encoding = bytes[0] & 128 == 0 ? .utf8 : .latin1
  guard
    let format = DelimitedFormat(
      separator: separators[Int(bytes[0] & 127) % separators.count],
      quote: quotes[Int(bytes[1]) % quotes.count],
      encoding: encoding)
  else { return 0 }
  let text = bytes[2...]
  let whole = read(text, format, piece: text.count)
  let pieces = read(text, format, piece: Int(bytes[1]) % 7 + 1)
  guard whole.rows == pieces.rows, whole.failed == pieces.failed else {
    preconditionFailure("in pieces, \(whole) becomes \(pieces)")
  }
  if !whole.failed, format.quote != nil { checkRoundTrip(whole.rows, format) }
  return 0
}

private func read(
  _ text: ArraySlice<UInt8>, _ format: DelimitedFormat, piece: Int
) -> (rows: [[String]], failed: Bool) {
  var rest = text
  var reader = DelimitedReader(name: "input", format: format) {
    let next = rest.prefix(max(piece, 1))
    rest = rest.dropFirst(next.count)
    return next.isEmpty ? nil : Array(next)
  }
  var rows: [[String]] = []
  do {
    while let row = try reader.next() { rows.append(row.fields) }
    return (rows, false)
  } catch {
    guard (error as? StoreError)?.line != nil else {
      preconditionFailure("an error without a line: \(error)")
    }
    return (rows, true)
  }
}

private func checkRoundTrip(_ rows: [[String]], _ format: DelimitedFormat) {
  let writer = DelimitedWriter(format: format)
  let text = rows.map { writer.line($0) }.joined()
  guard var utf8 = DelimitedFormat(separator: Character(Unicode.Scalar(format.separator))) else { return }
  utf8.quote = format.quote
  let again = read(Array(text.utf8)[...], utf8, piece: .max)
  guard !again.failed, same(again.rows, rows) else {
    preconditionFailure("\(rows) is written as \(text.debugDescription) and read as \(again)")
  }
}

/// `String`'s own equality would take an accent that is written in another way for the same.
private func same(_ rows: [[String]], _ others: [[String]]) -> Bool {
  rows.map { $0.map { Array($0.utf8) } } == others.map { $0.map { Array($0.utf8) } }
}
