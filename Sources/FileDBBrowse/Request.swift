import FileDB
import FileDBEssentials
import NIOHTTP1

/// A request of a page that was let in.
struct Request: Sendable {
  /// The parts of the path, decoded.
  let path: [String]
  /// The part after the `?`, decoded.
  private let query: [(name: String, value: String)]
  let method: HTTPMethod
  let body: [UInt8]

  /// - Returns: `nil` if the target is not a path, or not UTF-8.
  init?(_ head: HTTPRequestHead, body: [UInt8]) {
    guard head.uri.utf8.first == UInt8(ascii: "/") else { return nil }
    let (target, search) = head.uri.cut(at: "?") ?? (head.uri, "")
    var path: [String] = []
    for part in target.parts(between: "/").dropFirst() {
      guard let name = PercentEncoding.decode(part.utf8) else { return nil }
      path.append(name)
    }
    var query: [(String, String)] = []
    for pair in search.parts(between: "&") where !pair.isEmpty {
      let sides = pair.cut(at: "=") ?? (pair, "")
      guard let name = Self.decodedField(sides.before), let value = Self.decodedField(sides.after) else {
        return nil
      }
      query.append((name, value))
    }
    (self.path, self.query, self.body, method) = (path, query, body, head.method)
  }

  /// Forms encode a space as `+`.
  private static func decodedField(_ text: String) -> String? {
    PercentEncoding.decode(text.utf8.lazy.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
  }
}

extension Request {
  /// The value in the query; `nil` if there is none.
  subscript(name: String) -> String? { query.first { $0.name == name }?.value }

  func required(_ name: String) throws -> String {
    guard let value = self[name] else { throw RequestError.malformed("'\(name)' is missing.") }
    return value
  }

  func number(_ name: String, or standard: Int, in range: ClosedRange<Int>) throws -> Int {
    guard let text = self[name] else { return standard }
    guard let number = Int(text), range.contains(number) else {
      throw RequestError.malformed("'\(name)' is a number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  func id() throws -> RecordID<Fields> { try Self.id(required("id")) }

  static func id(_ text: String) throws -> RecordID<Fields> {
    guard let id = RecordID<Fields>(text) else { throw RequestError.malformed("'\(text)' is not an id.") }
    return id
  }

  /// The body, decoded as the type that a route expects.
  func decoded<Body: Decodable>(as type: Body.Type = Body.self) throws -> Body {
    do { return try JSONDecoder().decode(type, from: Data(body)) } catch let error as DecodingError {
      throw RequestError.malformed("The request cannot be read: \(error.reason)")
    }
  }
}

extension DecodingError {
  fileprivate var reason: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context.debugDescription
    @unknown default: "\(self)"
    }
  }
}
