import FileDBEssentials

// The messages of etcd's JSON gateway. Keys and values are base64, and 64-bit numbers are strings.

/// A key and its value.
struct EtcdPair: Decodable, Sendable {
  let key: Data
  /// Empty if the request asked for keys only.
  let value: Data
  let created: EtcdNumber
  let modified: EtcdNumber

  enum CodingKeys: String, CodingKey {
    case key, value
    case created = "create_revision"
    case modified = "mod_revision"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    key = try container.decode(Data.self, forKey: .key)
    value = try container.decodeIfPresent(Data.self, forKey: .value) ?? Data()
    created = try container.decode(EtcdNumber.self, forKey: .created)
    modified = try container.decode(EtcdNumber.self, forKey: .modified)
  }

  var text: String { String(decoding: value, as: UTF8.self) }
}

struct EtcdNumber: Codable, Sendable {
  let value: Int64

  init(_ value: Int64) { self.value = value }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let number = Int64(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a number was expected")
    }
    value = number
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value.description)
  }
}

// MARK: - Operations

/// One key, or a range of keys.
struct EtcdRange: Encodable, Sendable {
  var key: Data
  /// The first key after the range. `nil` for a single key.
  var end: Data?
  var limit: EtcdNumber?
  /// The revision to read at. `nil` for the newest one that a majority of the members has.
  var revision: EtcdNumber?
  var isWithoutValues: Bool?

  enum CodingKeys: String, CodingKey {
    case key, limit, revision
    case end = "range_end"
    case isWithoutValues = "keys_only"
  }

  init(_ key: String, revision: Int64? = nil) {
    self.key = Data(key.utf8)
    self.revision = revision.map { EtcdNumber($0) }
  }

  init(from key: String, to end: String, limit: Int? = nil, revision: Int64? = nil) {
    self.init(key, revision: revision)
    self.end = Data(end.utf8)
    self.limit = limit.map { EtcdNumber(Int64($0)) }
  }

  /// All keys that begin with `prefix`, which ends with a slash.
  init(under prefix: String, limit: Int? = nil, revision: Int64? = nil) {
    self.init(from: prefix, to: prefix.dropLast() + "0", limit: limit, revision: revision)
  }

  var withoutValues: EtcdRange {
    var range = self
    range.isWithoutValues = true
    return range
  }
}

enum EtcdOperation: Encodable, Sendable {
  case put(String, [UInt8])
  case get(EtcdRange)
  case delete(EtcdRange)

  static func put(_ key: String, _ text: String) -> EtcdOperation { .put(key, Array(text.utf8)) }

  private enum CodingKeys: String, CodingKey {
    case put = "request_put"
    case get = "request_range"
    case delete = "request_delete_range"
  }

  var isGet: Bool { if case .get = self { true } else { false } }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .put(let key, let value):
      try container.encode(EtcdPut(key: Data(key.utf8), value: Data(value)), forKey: .put)
    case .get(let range): try container.encode(range, forKey: .get)
    case .delete(let range): try container.encode(range, forKey: .delete)
    }
  }
}

private struct EtcdPut: Encodable {
  let key: Data
  let value: Data
}

/// A condition that must be true for a transaction to change anything.
enum EtcdCondition: Encodable, Sendable {
  /// Nobody has written the key since this revision. With 0: the key does not exist.
  case unchanged(String, since: Int64)
  case exists(String)
  case holds(String, String)

  private enum CodingKeys: String, CodingKey {
    case key, target, result, value
    case created = "create_revision"
    case modified = "mod_revision"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .unchanged(let key, let revision):
      try container.encode(Data(key.utf8), forKey: .key)
      try container.encode("MOD", forKey: .target)
      try container.encode("EQUAL", forKey: .result)
      try container.encode(EtcdNumber(revision), forKey: .modified)
    case .exists(let key):
      try container.encode(Data(key.utf8), forKey: .key)
      try container.encode("CREATE", forKey: .target)
      try container.encode("GREATER", forKey: .result)
      try container.encode(EtcdNumber(0), forKey: .created)
    case .holds(let key, let value):
      try container.encode(Data(key.utf8), forKey: .key)
      try container.encode("VALUE", forKey: .target)
      try container.encode("EQUAL", forKey: .result)
      try container.encode(Data(value.utf8), forKey: .value)
    }
  }
}

struct EtcdTransaction: Encodable, Sendable {
  var compare: [EtcdCondition] = []
  var success: [EtcdOperation]
}

// MARK: - Answers

struct EtcdAnswer: Decodable, Sendable {
  let revision: Int64
  /// Whether all conditions were true.
  let isMet: Bool
  /// The pairs of each range, in the order of the `get` operations.
  let ranges: [[EtcdPair]]

  private struct Header: Decodable {
    let revision: EtcdNumber
  }

  private struct Response: Decodable {
    struct Range: Decodable { let kvs: [EtcdPair]? }
    let range: Range?

    enum CodingKeys: String, CodingKey { case range = "response_range" }
  }

  private enum CodingKeys: String, CodingKey { case header, succeeded, responses }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    revision = try container.decode(Header.self, forKey: .header).revision.value
    isMet = try container.decodeIfPresent(Bool.self, forKey: .succeeded) ?? false
    ranges = try (container.decodeIfPresent([Response].self, forKey: .responses) ?? []).compactMap {
      $0.range.map { $0.kvs ?? [] }
    }
  }
}

/// An empty request, or an answer that nobody looks at.
struct EtcdNothing: Codable, Sendable {}

struct EtcdRefusal: Decodable {
  /// Older gateways call the text `error`. Since etcd 3.6, it is only in `message`.
  let error: String?
  let message: String?
  let code: Int?

  var text: String? { error ?? message }
}

struct EtcdMemberStatus: Decodable, Sendable {
  struct Header: Decodable, Sendable {
    let member: String?

    enum CodingKeys: String, CodingKey { case member = "member_id" }
  }

  let header: Header
  let version: String
  let leader: String?
  let dbSize: EtcdNumber
}

struct EtcdMembers: Decodable, Sendable {
  struct Member: Decodable, Sendable {
    let ID: String
    let name: String?
  }

  let members: [Member]
}
