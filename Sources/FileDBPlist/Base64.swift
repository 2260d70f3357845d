import FileDBEssentials

/// Base64 as property lists use it. Reading is strict: only the standard alphabet, always padded, and nothing after the
/// padding. A lenient reader drops bytes without telling anybody.
package enum Base64 {
  /// The length of `count` bytes in base64, without line ends.
  package static func length(of count: Int) -> Int { (count + 2) / 3 * 4 }

  /// - Parameter text: base64 without any white space.
  package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
    guard text.count % 4 == 0 else { return nil }
    guard !text.isEmpty else { return Data() }
    let padding = text[text.count - 1] == pad ? (text[text.count - 2] == pad ? 2 : 1) : 0
    var bytes = [UInt8]()
    bytes.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    for position in 0..<(text.count - padding) {
      let sextet = values[Int(text[position])]
      guard sextet < 64 else { return nil }
      group = group << 6 | UInt32(sextet)
      if position % 4 == 3 {
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
      }
    }
    switch padding {
    case 1:
      bytes.append(UInt8(truncatingIfNeeded: group >> 10))
      bytes.append(UInt8(truncatingIfNeeded: group >> 2))
    case 2: bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    default: break
    }
    return Data(bytes)
  }

  /// Appends `data` in lines of at most 76 columns. Each line begins with `indentation` tabs, but at most eight, and a
  /// tab counts as eight columns.
  package static func append(_ data: Data, indentation: Int, to output: inout [UInt8]) {
    let tabs = min(indentation, 8)
    // A line ends with the first whole character that reaches the margin. Eight tabs take 64 columns and leave twelve.
    let columns = 76 - 8 * tabs
    var column = 0
    func emit(_ character: UInt8) {
      if column == 0 { for _ in 0..<tabs { output.append(UInt8(ascii: "\t")) } }
      output.append(character)
      column += 1
      if column == columns {
        output.append(UInt8(ascii: "\n"))
        column = 0
      }
    }
    data.withUnsafeBytes { bytes in
      var position = 0
      while position < bytes.count {
        let have = min(3, bytes.count - position)
        let second = have > 1 ? UInt32(bytes[position + 1]) : 0
        let third = have > 2 ? UInt32(bytes[position + 2]) : 0
        let group = UInt32(bytes[position]) << 16 | second << 8 | third
        emit(alphabet[Int(group >> 18)])
        emit(alphabet[Int(group >> 12 & 63)])
        emit(have > 1 ? alphabet[Int(group >> 6 & 63)] : pad)
        emit(have > 2 ? alphabet[Int(group & 63)] : pad)
        position += 3
      }
    }
    if column > 0 { output.append(UInt8(ascii: "\n")) }
  }

  /// The six bits that `character` stands for; 255 if it is not in the alphabet.
  static func value(of character: UInt8) -> UInt8 { values[Int(character)] }

  /// The length of the base64 at the beginning of `text`, including its padding. `nil` if a group is incomplete, or if
  /// bits are set after the last byte: no writer sets them, and a reader would drop them.
  static func length(of text: UnsafeBufferPointer<UInt8>) -> Int? {
    let end = values.withUnsafeBufferPointer { values in
      text.firstIndex { values[Int($0)] > 63 } ?? text.count
    }
    switch end % 4 {
    case 0: return end
    case 2:
      guard end + 2 <= text.count, text[end] == pad, text[end + 1] == pad else { return nil }
      return value(of: text[end - 1]) & 0b1111 == 0 ? end + 2 : nil
    case 3:
      guard end < text.count, text[end] == pad else { return nil }
      return value(of: text[end - 1]) & 0b11 == 0 ? end + 1 : nil
    default: return nil
    }
  }

  private static let pad = UInt8(ascii: "=")

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The six bits of each byte; 255 for a byte outside the alphabet.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()
}
