import FileDB
import Foundation
import FuzzDriver

@main
struct FuzzPlist {
  static func main() { exit(fuzz { start, count in fuzzPlist(start, count) }) }
}

/// The parser must not crash or hang on any bytes; what it accepts must be written and read to the same value and bytes;
/// and however the bytes are cut, the outcome is the same.
private func fuzzPlist(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let limits = PlistLimits(depth: 40, valueBytes: 4_096, fileBytes: 1 << 16)
  let whole = parse([bytes[...]], limits)
  // Where to cut is taken from the input, so that the fuzzer can choose it.
  let cut = bytes.isEmpty ? 0 : Int(bytes[bytes.count / 2]) * bytes.count / 256
  let pieces = parse([bytes[..<cut], bytes[cut...]], limits)
  switch (whole, pieces) {
  case (.success(let value), .success(let other)):
    guard value == other else { preconditionFailure("cut at \(cut), the value is another") }
    checkRoundTrip(value)
  case (.failure(let error), .failure(let other)):
    guard isSameKind(error.reason, other.reason) else {
      preconditionFailure("cut at \(cut), \(error) becomes \(other)")
    }
  default: preconditionFailure("cut at \(cut), \(whole) becomes \(pieces)")
  }
  return 0
}

private func parse(_ pieces: [ArraySlice<UInt8>], _ limits: PlistLimits) -> Result<PlistValue, PlistError> {
  do throws(PlistError) {
    var parser = PlistParser(limits: limits)
    for piece in pieces {
      var failure: PlistError?
      piece.withUnsafeBytes { bytes in
        do throws(PlistError) { try parser.push(bytes) } catch { failure = error }
      }
      if let failure { throw failure }
    }
    return .success(try parser.finish())
  } catch {
    return .failure(error)
  }
}

/// Of two faults in one file libxml2 may meet either first, depending on how the bytes are cut. That the file is refused is
/// what counts; but what names another format must not depend on it.
private func isSameKind(_ one: PlistError.Reason, _ other: PlistError.Reason) -> Bool {
  let formats: [PlistError.Reason] = [.empty, .binaryPropertyList, .oldStylePropertyList, .json]
  return one == other || !(formats.contains(one) || formats.contains(other))
}

private func checkRoundTrip(_ value: PlistValue) {
  guard let written = try? PlistWriter.document(value) else { preconditionFailure("\(value) is not written") }
  guard let read = try? PlistParser.parse(written) else { preconditionFailure("\(value) is not read again") }
  guard read == value else { preconditionFailure("\(value) is read as \(read)") }
  guard let again = try? PlistWriter.document(read), again == written else {
    preconditionFailure("\(value) is written in two ways")
  }
}
