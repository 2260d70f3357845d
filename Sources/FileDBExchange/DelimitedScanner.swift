import FileDB

/// Finds the rows and cells of delimited text in its bytes, without decoding the text. Only one piece of the text is in
/// memory, with the row at its end.
struct DelimitedScanner {
  /// The bytes of a cell, as offsets from the start of its row, without the quotes around it.
  struct Cell {
    var start: Int
    var end: Int
    var isQuoted = false
    /// Whether the text contains a quote, which is written twice.
    var hasQuotes = false

    var isEmpty: Bool { start == end }
    /// Where the cell begins, including its quote.
    var outerStart: Int { isQuoted ? start - 1 : start }
  }

  /// Why it is unknown where the next row begins, and the offset from the start of the row.
  struct Fault: Error {
    let message: String
    let offset: Int
    var code = StoreError.Code.invalidText
  }

  /// What the next byte belongs to.
  private enum State {
    case cellStart, plain, quoted
    /// The last byte of a quoted cell was a quote: either its end, or the first of two.
    case afterQuote
  }

  private let separator: UInt8
  /// Not a byte if the format has no quote.
  private let quote: UInt16
  private let limits: TextLimits
  private var text: TextDecoder
  private var bytes: [UInt8] = []
  private var isAtEnd = false
  /// Where the row begins in `bytes`, and how many of its bytes have been scanned.
  private var start = 0
  private var length = 0
  private var state = State.cellStart
  /// If a line feed comes next, it belongs to the line end before it.
  private var skipsLineFeed = false
  private var nextLine = 1
  /// How many lines are still to be left out.
  private var linesToSkip: Int

  /// The line on which the row begins, counted from 1.
  private(set) var line = 1
  /// The cells of the row.
  private(set) var cells: [Cell] = []

  /// - Parameter name: the name of the text in errors.
  init(
    _ format: DelimitedFormat, of name: String, limits: TextLimits, nextPiece: @escaping () throws -> [UInt8]?
  ) {
    self.limits = limits
    separator = format.separator
    quote = format.quote.map(UInt16.init) ?? .max
    linesToSkip = format.skippedLines
    text = TextDecoder(format.encoding, of: name, nextPiece: nextPiece)
  }

  /// Moves to the next row that is not blank.
  /// - Returns: false at the end.
  /// - Throws: ``Fault``, and the errors of reading.
  mutating func next() throws -> Bool {
    if linesToSkip > 0 { try skipLines() }
    while true {
      beginRow()
      while try !scan() {
        if isAtEnd { return false }
        try checkLength()
        try readOn()
      }
      let isBlank = cells.count == 1 && cells[0].isEmpty && !cells[0].isQuoted
      if !isBlank { return true }
    }
  }

  /// Calls `body` with the bytes of the row.
  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBufferPointer {
      try body(UnsafeBufferPointer(rebasing: $0[start..<start + length]))
    }
  }

  private func checkLength() throws(Fault) {
    guard length > limits.recordBytes else { return }
    let (size, cell) = (limits.recordBytes.grouped, cells.last)
    throw state == .quoted
      ? Fault(
        message: "a quote is opened here and not closed within \(size) bytes", offset: cell?.outerStart ?? 0,
        code: StoreError.Code.strayQuote)
      : Fault(message: "this row is longer than \(size) bytes", offset: 0)
  }

  private mutating func beginRow() {
    start += length
    (length, line, state) = (0, nextLine, .cellStart)
    cells.removeAll(keepingCapacity: true)
  }

  private mutating func skipLines() throws {
    while linesToSkip > 0 {
      while start == bytes.count {
        if isAtEnd { return }
        try readOn()
      }
      let byte = bytes[start]
      start += 1
      let isLineEnd = byte == 0x0D || (byte == 0x0A && !skipsLineFeed)
      skipsLineFeed = byte == 0x0D
      if isLineEnd { (linesToSkip, nextLine) = (linesToSkip - 1, nextLine + 1) }
    }
  }

  /// Removes the rows before this one, and reads the next piece.
  private mutating func readOn() throws {
    bytes.removeFirst(start)
    start = 0
    guard let piece = try text.next() else {
      isAtEnd = true
      return
    }
    if bytes.isEmpty { bytes = piece } else { bytes += piece }
  }

  /// Scans the part of the row that is in memory.
  /// - Returns: false if the row's end is missing, and at the end of the text if nothing is left.
  private mutating func scan() throws(Fault) -> Bool {
    if skipsLineFeed, start < bytes.count {
      if bytes[start] == 0x0A { start += 1 }
      skipsLineFeed = false
    }
    let bytes = bytes  // Nothing changes them meanwhile.
    let start = start
    return try bytes.withUnsafeBufferPointer { bytes throws(Fault) in
      if try scan(UnsafeBufferPointer(rebasing: bytes[start...])) { return true }
      return isAtEnd ? try finish() : false
    }
  }

  private mutating func scan(_ row: UnsafeBufferPointer<UInt8>) throws(Fault) -> Bool {
    var position = length
    defer { length = position }
    while position < row.count {
      switch state {
      case .cellStart:
        guard cells.count < limits.fields else {
          throw Fault(message: "this row has more than \(limits.fields.grouped) fields", offset: 0)
        }
        let isQuoted = UInt16(row[position]) == quote
        if isQuoted { position += 1 }
        cells.append(Cell(start: position, end: position, isQuoted: isQuoted))
        state = isQuoted ? .quoted : .plain
      case .plain:
        while position < row.count, !isEnd(row[position]) { position += 1 }
        cells[cells.count - 1].end = position
        if position < row.count, endCell(row[position], &position) { return true }
      case .quoted:
        skipQuoted(row, &position)
      case .afterQuote where UInt16(row[position]) == quote:
        cells[cells.count - 1].hasQuotes = true
        state = .quoted
        position += 1
      case .afterQuote:
        guard isEnd(row[position]) else {
          throw Fault(
            message: "text after the closing quote of a field; a quote inside it is written twice",
            offset: position, code: StoreError.Code.strayQuote)
        }
        cells[cells.count - 1].end = position - 1
        if endCell(row[position], &position) { return true }
      }
    }
    return false
  }

  private func isEnd(_ byte: UInt8) -> Bool { byte == separator || byte == 0x0A || byte == 0x0D }

  /// - Returns: whether `end` also ends the row.
  private mutating func endCell(_ end: UInt8, _ position: inout Int) -> Bool {
    position += 1
    state = .cellStart
    if end == separator { return false }
    skipsLineFeed = end == 0x0D
    nextLine += 1
    return true
  }

  /// Moves past the next quote. A CRLF counts as one line end.
  private mutating func skipQuoted(_ row: UnsafeBufferPointer<UInt8>, _ position: inout Int) {
    let textStart = cells[cells.count - 1].start
    while position < row.count {
      let byte = row[position]
      position += 1
      if UInt16(byte) == quote {
        state = .afterQuote
        return
      }
      let isSecond = byte == 0x0A && position - 2 >= textStart && row[position - 2] == 0x0D
      if byte == 0x0D || (byte == 0x0A && !isSecond) { nextLine += 1 }
    }
  }

  /// Ends the row at the end of the text.
  /// - Returns: false if there is no row.
  private mutating func finish() throws(Fault) -> Bool {
    switch state {
    case .cellStart where cells.isEmpty: return false
    case .cellStart: cells.append(Cell(start: length, end: length))
    case .plain: break
    case .quoted:
      throw Fault(
        message: "a quote is opened here and never closed", offset: cells[cells.count - 1].outerStart,
        code: StoreError.Code.strayQuote)
    case .afterQuote: cells[cells.count - 1].end = length - 1
    }
    state = .cellStart
    return true
  }
}

/// A position in a text: the line and the column, both from 1. The column counts characters.
struct TextPosition {
  var line: Int
  var column = 1

  init(line: Int) { self.line = line }

  /// Moves from one offset in `text` to a later one.
  mutating func advance(in text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) {
    for position in start..<end {
      let byte = text[position]
      // In a CRLF, the line feed counts.
      let isCRLF = byte == 0x0D && position + 1 < text.count && text[position + 1] == 0x0A
      if byte == 0x0A || (byte == 0x0D && !isCRLF) {
        (line, column) = (line + 1, 1)
      } else if byte.beginsCharacter {
        column += 1
      }
    }
  }
}
