import FuzzSupport

// Testable, for the lines of a value are nobody else's matter.
@testable import FileDBPlist

/// Small enough that inputs reach them.
private let limits = PlistLimits(depth: 12, valueBytes: 200)

private let header = Array(PlistWriter.header.utf8)
private let footer = Array(PlistWriter.footer.utf8)

// An input is the lines of one value, or a document.
@main enum FuzzCanonical {
  static func main() { runFuzzer(test) }
}

private func test(_ bytes: [UInt8]) -> Bool {
  let isDocument = bytes.starts(with: header) && bytes.suffix(footer.count) == footer[...]
  let lines = isDocument ? Array(bytes.dropFirst(header.count).dropLast(footer.count)) : bytes
  let parsed = try? PlistParser.parse(isDocument ? bytes : header + lines + footer, limits: limits)
  checkJudgement(of: lines, parsed)
  if let parsed {
    let written = writtenLines(parsed)
    if written != lines { checkJudgement(of: written, parsed) }
  }
  return true
}

/// Lines pass if they are, byte for byte, what is written for what libxml2 reads in them, and there alone; then they
/// read as libxml2 reads them.
private func checkJudgement(of lines: [UInt8], _ parsed: PlistValue?) {
  let isCanonical = parsed.map(writtenLines) == lines
  lines.withUnsafeBytes { bytes in
    var scanner = CanonicalScanner(bytes, limits: limits)
    let element = scanner.scanValue(indentation: 0)
    guard let element, scanner.isAtEnd else {
      if isCanonical { fail("canonical, but refused at \(scanner.position): \(text(lines))") }
      return
    }
    guard let parsed, isCanonical else { fail("passed: \(text(lines))\nread: \(String(describing: parsed))") }
    let value = CanonicalReader(bytes).value(of: element)
    if value != parsed { fail("read: \(value)\nby libxml2: \(parsed)") }
    checkRecord(bytes, parsed)
  }
  checkFarFromEnd(lines)
  checkShape(lines)
}

/// Near the end of the bytes, they are scanned as they are far from it.
private func checkFarFromEnd(_ lines: [UInt8]) {
  func scan(_ bytes: [UInt8]) -> CanonicalElement? {
    bytes.withUnsafeBytes { bytes in
      var scanner = CanonicalScanner(bytes, limits: limits)
      return scanner.scanValue(indentation: 0)
    }
  }
  let (near, far) = (scan(lines), scan(lines + [UInt8](repeating: 0x20, count: 400)))
  if near != far {
    fail("\(String(describing: near)), but far from the end \(String(describing: far)): \(text(lines))")
  }
}

/// What is learnt from dictionaries changes nothing about how they are judged.
private func checkShape(_ lines: [UInt8]) {
  // The fast code leaves the last bytes alone.
  let bytes = lines + lines + [UInt8](repeating: 0x20, count: 400)
  let shape = DictShape(indentation: 0, numberKey: "id", limits: limits)
  for _ in 0..<2 {
    bytes.withUnsafeBytes { bytes in
      var plain = CanonicalScanner(bytes, limits: limits)
      var shaped = plain
      while let expected = plain.scanDict(indentation: 0, numberKey: "id") {
        let found = shaped.scanDict(alike: shape)
        if found?.range != expected.range || found?.number != expected.number {
          fail("\(String(describing: found)), not \(expected) of: \(text(lines))")
        }
      }
      if let found = shaped.scanDict(alike: shape) { fail("passed: \(found) of: \(text(lines))") }
    }
  }
}

/// A dictionary is a record if its `id` is a number in its shortest form.
private func checkRecord(_ bytes: UnsafeRawBufferPointer, _ parsed: PlistValue) {
  var scanner = CanonicalScanner(bytes, limits: limits)
  let found = scanner.scanDict(indentation: 0, numberKey: "id")
  let expected = parsed.dict?["id"]?.string.flatMap { id in
    Int64(id).flatMap { $0 >= 0 && $0.description.utf8.elementsEqual(id.utf8) ? $0 : nil }
  }
  if found?.number != expected || found.map({ $0.range.count != bytes.count }) == true {
    fail("record: \(String(describing: found)), not \(String(describing: expected)) of \(bytes.count) bytes")
  }
}

private func writtenLines(_ value: PlistValue) -> [UInt8] {
  var writer = PlistWriter()
  writer.append(value, indentation: 0)
  return writer.bytes
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
