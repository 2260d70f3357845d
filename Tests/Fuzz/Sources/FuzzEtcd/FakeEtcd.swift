import FileDBPlist
import Foundation
import FuzzSupport
import Synchronization

@testable import FileDBCluster

/// Answers requests on a socket as etcd does, from keys that an input has changed, and changes the answers, too.
final class FakeEtcd: Sendable {
  private struct State {
    var keys: [(key: String, value: [UInt8])] = []
    var changes: [UInt8] = []
  }

  private let state = Mutex(State())
  private static let prefix = "filedb/s/"

  /// - Returns: the port.
  func start() -> UInt16 {
    listen({ 0 }) { [self] received, _ in
      var answers: [UInt8] = []
      while let (path, body, count) = Self.request(received) {
        received.removeFirst(count)
        let answer = Array(answer(to: path, body))
        let (status, bytes) =
          answer.isEmpty ? (400, Array(#"{"code":5,"message":"not found"}"#.utf8)) : (200, answer)
        answers += Array("HTTP/1.1 \(status) OK\r\nContent-Length: \(bytes.count)\r\n\r\n".utf8) + bytes
      }
      return answers
    }
  }

  func begin(_ keys: PlistValue, _ changes: [UInt8]) {
    let pairs = (keys.dict ?? [:]).map { (Self.prefix + $0.key, Array(($0.value.string ?? "").utf8)) }
    state.withLock { $0 = State(keys: pairs, changes: changes) }
  }

  /// The first request in these bytes, and how many it takes.
  private static func request(_ bytes: [UInt8]) -> (path: String, body: [UInt8], count: Int)? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n") else { return nil }
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
    let count = length.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
    let start = text.utf8.distance(from: text.startIndex, to: end.upperBound)
    guard bytes.count >= start + count else { return nil }
    return (lines[0].components(separatedBy: " ")[1], Array(bytes[start..<start + count]), start + count)
  }

  /// - Returns: nothing if the answer is none that the client can read: it would ask again and again.
  private func answer(to path: String, _ body: [UInt8]) -> Data {
    let state = state.withLock(\.self)
    var answer: PlistValue
    switch path {
    case "/v3/maintenance/status":
      answer = ["header": ["member_id": "1"], "version": "3.5", "leader": "1", "dbSize": "20480"]
    case "/v3/cluster/member/list": answer = ["members": [["ID": "1", "name": "m"]]]
    default: answer = transaction(body, state.keys)
    }
    answer = answer.changed(by: state.changes)
    let data = Data(JSONObject.text(answer).utf8)
    let isReadable =
      switch path {
      case "/v3/maintenance/status": (try? JSONDecoder().decode(EtcdMemberStatus.self, from: data)) != nil
      case "/v3/cluster/member/list": (try? JSONDecoder().decode(EtcdMembers.self, from: data)) != nil
      default: (try? JSONDecoder().decode(EtcdAnswer.self, from: data)) != nil
      }
    return isReadable ? data : Data()
  }

  private func transaction(_ body: [UInt8], _ keys: [(key: String, value: [UInt8])]) -> PlistValue {
    let request = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
    let operations = request?["success"] as? [[String: [String: Any]]] ?? []
    let responses = operations.map { operation -> PlistValue in
      guard let range = operation["request_range"] else { return [:] }
      func text(_ name: String) -> String? {
        (range[name] as? String).flatMap { Data(base64Encoded: $0) }.map {
          String(decoding: $0, as: UTF8.self)
        }
      }
      let first = text("key") ?? ""
      let end = text("range_end")
      let found = keys.filter { key, _ in end.map { first <= key && key < $0 } ?? (key == first) }
      let limit = (range["limit"] as? String).flatMap { Int($0) } ?? .max
      return ["response_range": ["kvs": .array(found.prefix(limit).map(Self.pair))]]
    }
    return ["header": ["revision": "9"], "succeeded": true, "responses": .array(responses)]
  }

  private static func pair(_ key: String, _ value: [UInt8]) -> PlistValue {
    [
      "key": .string(Data(key.utf8).base64EncodedString()),
      "value": .string(Data(value).base64EncodedString()),
      "create_revision": "3", "mod_revision": "8",
    ]
  }
}

private enum JSONObject {
  static func text(_ value: PlistValue) -> String {
    switch value {
    case .string(let text): (try? String(decoding: JSONEncoder().encode(text), as: UTF8.self)) ?? "\"\""
    case .array(let elements): "[" + elements.map(Self.text).joined(separator: ",") + "]"
    case .dict(let entries):
      "{" + entries.map { "\(Self.text(.string($0.key))):\(Self.text($0.value))" }.joined(separator: ",")
        + "}"
    case .integer(let number): number.description
    case .bool(let value): value.description
    default: "1.5"
    }
  }
}
