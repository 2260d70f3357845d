/// A JSON text that is being built.
enum JSON: Sendable {
  case null
  case bool(Bool)
  case number(Int)
  case string(String)
  case array([JSON])
  /// The members in order.
  case object([(String, JSON)])

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .number(let number): bytes += number.description.utf8
    case .string(let text): Self.append(text, to: &bytes)
    case .array(let elements):
      Self.append(elements, in: ("[", "]"), to: &bytes) { $0.append(to: &$1) }
    case .object(let members):
      Self.append(members, in: ("{", "}"), to: &bytes) { member, bytes in
        Self.append(member.0, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.1.append(to: &bytes)
      }
    }
  }

  private static func append<Element>(
    _ elements: [Element], in brackets: (Unicode.Scalar, Unicode.Scalar), to bytes: inout [UInt8],
    _ append: (Element, inout [UInt8]) -> Void
  ) {
    bytes.append(UInt8(ascii: brackets.0))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(element, &bytes)
    }
    bytes.append(UInt8(ascii: brackets.1))
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

extension JSON {
  init(_ text: String?) { self = text.map(JSON.string) ?? .null }
  init(_ number: Int?) { self = number.map(JSON.number) ?? .null }
  /// As strings, because JavaScript cannot represent all integers above 2^53.
  init(ids: some Sequence<some CustomStringConvertible>) {
    self = .array(ids.map { .string($0.description) })
  }
}
