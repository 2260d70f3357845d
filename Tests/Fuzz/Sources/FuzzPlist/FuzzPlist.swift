import FileDB
import FileDBPlist
import FuzzSupport

/// Small enough that inputs reach them.
private let limits = PlistLimits(depth: 12, valueBytes: 1 << 10, fileBytes: 8 << 10)
/// What is written is longer than what was read, but no deeper and of no longer values.
private let writingLimits = PlistLimits(depth: 12, valueBytes: 1 << 10, fileBytes: 1 << 30)

@main enum FuzzPlist {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  let whole = parse([bytes])
  checkCuts(bytes, whole)
  if case .success(let value) = whole { checkFixedPoint(value) }
  return true
}

/// However a file is cut, it is read alike, or refused for the same reason.
///
/// The place may differ: libxml2 hands over text in the pieces it comes in, so that what is wrong in one shows sooner
/// or later. So may the reason if XML is broken: how far libxml2 reads ahead, and whether something else that is wrong
/// is met before, follows from how much it has. A file that is too long is refused before a piece of it is read.
private func checkCuts(_ bytes: [UInt8], _ whole: Result<PlistValue, PlistError>) {
  var choices = Choices(bytes)
  let cut = parse(bytes.pieces(&choices))
  let isSame =
    switch (whole, cut) {
    case (.success(let value), .success(let other)): value == other
    case (.failure(let error), .failure(let other)):
      error.reason == other.reason || (error.reason.dependsOnCut || other.reason.dependsOnCut)
    default: false
    }
  if !isSame { fail("whole: \(whole)\ncut: \(cut)") }
}

extension PlistError.Reason {
  fileprivate var dependsOnCut: Bool {
    switch self {
    case .malformed, .truncated, .undefinedEntity, .fileTooLarge: true
    default: false
    }
  }
}

/// Whatever is read can be written, is the same when it is read again, and then is written alike.
private func checkFixedPoint(_ value: PlistValue) {
  do {
    let written = try PlistWriter.document(value, limits: writingLimits)
    let again = try PlistParser.parse(written, limits: writingLimits)
    if again != value { fail("read: \(value)\nread again: \(again)") }
    let writtenAgain = try PlistWriter.document(again, limits: writingLimits)
    if writtenAgain != written { fail("\(text(written))\nthen: \(text(writtenAgain))") }
  } catch {
    fail("\(error) for what was read: \(value)")
  }
}

private func parse(_ pieces: [[UInt8]]) -> Result<PlistValue, PlistError> {
  var parser = PlistParser(limits: limits)
  do throws(PlistError) {
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

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
