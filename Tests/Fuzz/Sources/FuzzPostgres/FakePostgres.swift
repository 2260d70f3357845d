import Foundation
import FuzzSupport
import Synchronization

@testable import FileDBCluster

/// Answers requests on a socket as PostgreSQL does, with the rows of an input.
final class FakePostgres: Sendable {
  typealias Row = [[UInt8]?]

  /// The rows of the answers that are still to come.
  private let answers = Mutex<[[Row]]>([])
  /// As many as the widest answer has.
  private static let columnCount = 12

  /// What the server knows about a connection.
  private struct Client {
    var hasBegun = false
    var query = ""
  }

  /// - Returns: the port.
  func start() -> UInt16 {
    listen({ Client() }) { [self] received, client in
      var answers: [UInt8] = []
      // The first message has no kind.
      while let length = Self.length(received, at: client.hasBegun ? 1 : 0) {
        let kind: Unicode.Scalar = client.hasBegun ? Unicode.Scalar(received[0]) : "*"
        let body = Array(received[(client.hasBegun ? 5 : 4)..<length])
        received.removeFirst(length)
        client.hasBegun = true
        answers += answer(kind, body, &client.query)
      }
      return answers
    }
  }

  func begin(_ bytes: [UInt8]) { answers.withLock { $0 = Self.rows(bytes) } }

  /// A byte 0xFD ends an answer, 0xFE a row, 0xFF a column. The first byte of a column says what it is.
  private static func rows(_ bytes: [UInt8]) -> [[Row]] {
    bytes.split(separator: 0xFD, omittingEmptySubsequences: false).map { answer in
      answer.split(separator: 0xFE).map { row in
        let columns = row.split(separator: 0xFF, omittingEmptySubsequences: false).map { column($0) }
        return Array((columns + Row(repeating: nil, count: columnCount)).prefix(columnCount))
      }
    }
  }

  private static func column(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    let rest = bytes.dropFirst()
    switch (bytes.first ?? 0) % 8 {
    case 0: return nil
    case 1: return Array(repeating: 0, count: max(8 - rest.count, 0)) + rest.suffix(8)
    case 2: return Array(repeating: 0xFF, count: max(8 - rest.count, 0)) + rest.suffix(8)
    case 3: return Array(rest.prefix(16)) + Array(repeating: 7, count: max(16 - rest.count, 0))
    case 4: return [0x7F] + Array(repeating: 0xFF, count: 7)
    default: return Array(rest)
    }
  }

  /// How long the first message is, if all of it is there.
  private static func length(_ bytes: [UInt8], at place: Int) -> Int? {
    guard bytes.count >= place + 4 else { return nil }
    let length = place + bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    return bytes.count >= length ? length : nil
  }

  private func answer(_ kind: Unicode.Scalar, _ body: [UInt8], _ query: inout String) -> [UInt8] {
    let ready = Self.message("Z", [UInt8(ascii: "I")])
    switch kind {
    case "*": return Self.message("R", [0, 0, 0, 0]) + Self.parameters + ready
    case "Q":
      query = String(decoding: body, as: UTF8.self)
      return query.contains("SELECT") && !query.contains("set_config")
        ? Self.description + rows(for: query) + ready : Self.message("C", Array("SET\0".utf8)) + ready
    case "P":
      // The name of the statement comes first.
      query = String(decoding: body.drop { $0 != 0 }, as: UTF8.self)
      return Self.message("1", [])
    case "B": return Self.message("2", [])
    case "D": return Self.description
    case "E": return rows(for: query)
    case "S": return ready
    default: return []
    }
  }

  private func rows(for query: String) -> [UInt8] {
    let rows = Self.rowsAtFirst(query) ?? answers.withLock { $0.isEmpty ? [] : $0.removeFirst() }
    let missing: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
    let messages = rows.map { row in
      let columns = row.map { column in column.map { Self.number($0.count, 4) + $0 } ?? missing }
      return Self.message("D", Self.number(Self.columnCount, 2) + Array(columns.joined()))
    }
    return Array(messages.joined()) + Self.message("C", Array("SELECT\0".utf8))
  }

  /// The sound answers that a connection begins with.
  private static func rowsAtFirst(_ query: String) -> [Row]? {
    func row(_ columns: [UInt8]...) -> [Row] {
      [Array((columns + Row(repeating: nil, count: columnCount)).prefix(columnCount))]
    }
    if query.contains("to_regclass") { return row([1]) }
    if query.contains("filedb.format") { return row([UInt8(PostgresTables.version)]) }
    if query.contains("identity::text") { return row([7], Array("identity".utf8), [1]) }
    return nil
  }

  /// What libpq asks for otherwise.
  private static let parameters = Array(
    [
      "server_version 15.0", "in_hot_standby off", "default_transaction_read_only off",
      "client_encoding UTF8",
    ]
    .map { message("S", $0.utf8.map { $0 == UInt8(ascii: " ") ? 0 : $0 } + [0]) }.joined())

  private static let description: [UInt8] = {
    // A name, a table and its column, a type with its size and modifier, and the binary form.
    let column: [UInt8] = [UInt8(ascii: "c"), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1]
    return message("T", number(columnCount, 2) + Array(repeatElement(column, count: columnCount).joined()))
  }()

  private static func message(_ kind: Unicode.Scalar, _ body: [UInt8]) -> [UInt8] {
    [UInt8(ascii: kind)] + number(body.count + 4, 4) + body
  }

  private static func number(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}
