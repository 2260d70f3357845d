/// Text in the form in which a terminal shows it.
enum TerminalText {
  /// `text`, with an escape in place of everything that a terminal would obey instead of showing it: control
  /// characters, DEL, the C1 controls, and the marks that change the direction of writing.
  static func defused(_ text: String, keeping kept: Set<Unicode.Scalar> = []) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }  // This is true of most texts.
    guard text.unicodeScalars.contains(where: { isObeyed($0) && !kept.contains($0) }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      guard isObeyed(scalar), !kept.contains(scalar) else {
        result.unicodeScalars.append(scalar)
        continue
      }
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return result
  }

  /// Whether a terminal would obey something in the text instead of showing it.
  static func isObeyed(_ text: String) -> Bool { text.unicodeScalars.contains(where: isObeyed) }

  private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The number of columns that `text` takes.
  static func width(_ text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  /// `text` in at most `columns` columns. If it is cut, it ends with an ellipsis.
  static func truncated(_ text: String, to columns: Int) -> String {
    guard width(text) > columns else { return text }
    var result = ""
    var used = 0
    for character in text {
      used += width(character)
      if used > columns - 1 { break }
      result.append(character)
    }
    return result + "…"
  }

  /// 2 for the wide East Asian characters and emoji in Unicode's EastAsianWidth.txt, and 0 for marks that stand alone.
  private static func width(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
      0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
