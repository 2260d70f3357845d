/// The limits of a property list. They bound the memory and time that hostile input can cost.
///
/// The same limits apply to reading and writing, so whatever is written can be read again.
public struct PlistLimits: Sendable {
  /// The most levels of nested arrays and dictionaries, including the outermost one. CoreFoundation stops at 512, and
  /// at 128 on small systems. 256 keeps recursion here far from the end of any thread's stack.
  public var depth: Int
  /// The most bytes of one string, key or other scalar in UTF-8. Data counts in base64, without white space.
  public var valueBytes: Int
  /// The most bytes of a whole document.
  public var fileBytes: Int

  /// The limits, each with the value that most property lists stay within.
  public init(depth: Int = 256, valueBytes: Int = 64 << 20, fileBytes: Int = 4 << 30) {
    self.depth = depth
    self.valueBytes = valueBytes
    self.fileBytes = fileBytes
  }
}
