@testable import FileDBPlist

/// Pushes `bytes` through the parser piece by piece.
func parse(
  _ bytes: [UInt8], inPiecesOf length: Int, limits: PlistLimits = PlistLimits()
) throws(PlistError) -> PlistValue {
  var parser = PlistParser(limits: limits)
  for start in stride(from: 0, to: bytes.count, by: length) {
    let piece = Array(bytes[start..<min(start + length, bytes.count)])
    try piece.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
  }
  return try parser.finish()
}
