/// The limits of a property list. They bound the memory and the time that a hostile file can cost.
///
/// The same limits apply to reading and writing, so whatever FileDB writes, it can read again.
public struct PlistLimits: Sendable {
  /// The largest number of nested arrays and dictionaries, including the outermost one. CoreFoundation stops at 512,
  /// and at 128 on small systems. The default of 256 keeps the recursion here far from the end of any thread's stack.
  public var depth: Int
  /// The largest size of one string, key or other single value, in bytes of UTF-8. Data counts in base64, without white
  /// space.
  public var valueBytes: Int
  /// The largest size of a whole document, in bytes.
  public var fileBytes: Int

  /// The limits of a property list. Most property lists stay within the defaults.
  public init(depth: Int = 256, valueBytes: Int = 64 << 20, fileBytes: Int = 4 << 30) {
    self.depth = depth
    self.valueBytes = valueBytes
    self.fileBytes = fileBytes
  }
}
