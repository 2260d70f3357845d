import Testing

@testable import FileDBPlist

/// What `body`, the lines of one value, is by the scanner; `nil` if it refuses it.
func canonicalReading(_ body: [UInt8], indentation: Int = 0, limits: PlistLimits = PlistLimits())
  -> PlistValue?
{
  // Of exactly the size, so that a sanitizer notices a byte beyond.
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: body.count, alignment: 1)
  defer { memory.deallocate() }
  memory.copyBytes(from: body)
  let bytes = UnsafeRawBufferPointer(memory)
  var scanner = CanonicalScanner(bytes, limits: limits)
  let element = scanner.scanValue(indentation: indentation)
  // Far from the end, the bytes are scanned without looking for it.
  #expect(
    (body + [UInt8](repeating: 0x20, count: 100)).withUnsafeBytes { longer in
      var scanner = CanonicalScanner(longer, limits: limits)
      return scanner.scanValue(indentation: indentation) == element
        && (element == nil || scanner.position <= body.count)
    }, "\(String(decoding: body, as: UTF8.self)) with more after it")
  guard let element, scanner.isAtEnd else { return nil }
  return CanonicalReader(bytes).value(of: element)
}

func canonicalReading(_ body: String) -> PlistValue? { canonicalReading(Array(body.utf8)) }

/// What libxml2 reads in `body` where the writer writes the same bytes for it.
func rewritableReading(_ body: [UInt8], limits: PlistLimits = PlistLimits()) -> PlistValue? {
  guard let value = try? PlistParser.parse(document(body), limits: limits),
    (try? PlistWriter.document(value)) == document(body)
  else { return nil }
  return value
}

/// The property list whose root has the lines `body`.
func document(_ body: [UInt8]) -> [UInt8] { PlistWriter.header.utf8 + body + PlistWriter.footer.utf8 }

/// The canonical lines of `value`.
func canonicalBody(_ value: PlistValue, indentation: Int = 0, limits: PlistLimits = PlistLimits()) throws
  -> [UInt8]
{
  var writer = PlistWriter()
  writer.append(try value.normalized(limits: limits), indentation: indentation)
  return writer.bytes
}

/// What a whole document is by the scanner.
func canonicalReading(document: [UInt8]) -> PlistValue? {
  let (header, footer) = (Array(PlistWriter.header.utf8), Array(PlistWriter.footer.utf8))
  guard document.starts(with: header), document.suffix(footer.count) == footer[...] else { return nil }
  return canonicalReading(Array(document.dropFirst(header.count).dropLast(footer.count)))
}
