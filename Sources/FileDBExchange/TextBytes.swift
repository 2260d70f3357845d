/// The bytes of a text in UTF-8, one after the other; a piece of it at a time is in memory.
struct TextBytes {
  private var text: TextDecoder
  private var piece: [UInt8] = []
  private var position = 0

  init(_ text: TextDecoder) { self.text = text }

  /// The next byte without taking it; `nil` at the end.
  mutating func peek() throws -> UInt8? {
    while position == piece.count {
      guard let next = try text.next() else { return nil }
      (piece, position) = (next, 0)
    }
    return piece[position]
  }

  mutating func take() throws -> UInt8? {
    let byte = try peek()
    if byte != nil { position += 1 }
    return byte
  }
}
