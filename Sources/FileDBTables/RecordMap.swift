/// A number for each record id. This is a radix tree over the bits of the ids, which usually count up without gaps.
///
/// It is a value. Copies share whatever did not change.
/// - Complexity: O(log *m*) for a look-up or a change, where *m* is the highest id.
package struct RecordMap: Sendable {
  /// How many bits of an id choose a node's child.
  private static let width = 6

  private var root = Node()
  /// How many bits of an id the levels below the root use.
  private var shift = 0

  package init() {}

  package subscript(id: AnyRecordID) -> UInt32? {
    let key = UInt64(id.rawValue)
    return covers(key) ? root.value(of: key, shift: shift) : nil
  }

  package mutating func set(_ value: UInt32, for id: AnyRecordID) {
    let key = UInt64(id.rawValue)
    while !covers(key) {
      root = Node(around: root)
      shift += Self.width
    }
    root.set(value, for: key, shift: shift)
  }

  package mutating func remove(_ id: AnyRecordID) {
    let key = UInt64(id.rawValue)
    if covers(key) { root.remove(key, shift: shift) }
  }

  private func covers(_ key: UInt64) -> Bool { key >> shift < 1 << Self.width }

  /// The children that exist, or at the lowest level the values. The bitmap tells which of the 64 they are.
  private struct Node: Sendable {
    private var bitmap: UInt64 = 0
    private var children: [Node] = []
    private var values: [UInt32] = []

    init() {}

    /// A node one level higher, with `node` as its first child.
    init(around node: Node) {
      guard node.bitmap != 0 else { return }
      bitmap = 1
      children = [node]
    }

    private func bit(_ key: UInt64, _ shift: Int) -> UInt64 { 1 << (key >> shift & 63) }
    private func position(_ bit: UInt64) -> Int { (bitmap & (bit - 1)).nonzeroBitCount }

    func value(of key: UInt64, shift: Int) -> UInt32? {
      let bit = bit(key, shift)
      guard bitmap & bit != 0 else { return nil }
      let position = position(bit)
      return shift == 0 ? values[position] : children[position].value(of: key, shift: shift - width)
    }

    mutating func set(_ value: UInt32, for key: UInt64, shift: Int) {
      let bit = bit(key, shift)
      let position = position(bit)
      let isNew = bitmap & bit == 0
      bitmap |= bit
      if shift == 0 {
        if isNew { values.insert(value, at: position) } else { values[position] = value }
      } else {
        if isNew { children.insert(Node(), at: position) }
        children[position].set(value, for: key, shift: shift - width)
      }
    }

    mutating func remove(_ key: UInt64, shift: Int) {
      let bit = bit(key, shift)
      guard bitmap & bit != 0 else { return }
      let position = position(bit)
      if shift == 0 {
        values.remove(at: position)
      } else {
        children[position].remove(key, shift: shift - width)
        guard children[position].bitmap == 0 else { return }
        children.remove(at: position)
      }
      bitmap &= ~bit
    }
  }
}
