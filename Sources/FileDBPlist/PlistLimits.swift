/// What a property list may hold before it is refused, so that hostile input costs bounded memory and time.
///
/// The same limits hold for reading and for writing: whatever is written can be read again.
public struct PlistLimits: Sendable {
  /// Arrays and dictionaries inside each other, the outermost one counted. CoreFoundation stops at 512, and at
  /// 128 on small systems; 256 keeps our own recursion far from any thread's stack.
  public var depth: Int
  /// Bytes of one string, key or other scalar as it stands in UTF-8; of data in base64, without white space.
  public var valueBytes: Int
  /// Bytes of a whole document.
  public var fileBytes: Int

  public init(depth: Int = 256, valueBytes: Int = 64 << 20, fileBytes: Int = 4 << 30) {
    self.depth = depth
    self.valueBytes = valueBytes
    self.fileBytes = fileBytes
  }
}
