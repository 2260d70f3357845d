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

  /// - Returns: `nil` if the target is not a path in ASCII, or does not stand for UTF-8.
  init?(_ head: HTTPRequestHead, body: [UInt8]) {
    // An address is ASCII. A mark with an accent would not be found below, because both are one `Character`.
    guard head.uri.utf8.first == UInt8(ascii: "/"), head.uri.utf8.allSatisfy({ $0 < 0x80 }) else {
      return nil
    }
    let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var path: [String] = []
    for part in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let name = PercentEncoding.decode(part.utf8) else { return nil }
      path.append(name)
    }
    var query: [(String, String)] = []
    for pair in parts.count == 2 ? parts[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      // Forms encode a space as `+`.
      let texts = sides.map { PercentEncoding.decode($0.utf8.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }) }
      guard let name = texts[0], let value = texts.count == 2 ? texts[1] : "" else { return nil }
      query.append((name, value))
    }
    (self.path, self.query, self.body, method) = (path, query, body, head.method)
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
