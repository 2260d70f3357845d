/// The bytes of a text in UTF-8, one after another. Only a piece of it is in memory.
struct TextBytes {
  private var text: TextDecoder
  private var piece: [UInt8] = []
  private var position = 0

  init(_ text: TextDecoder) { self.text = text }

  /// The next byte; `nil` at the end. Does not consume it.
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
