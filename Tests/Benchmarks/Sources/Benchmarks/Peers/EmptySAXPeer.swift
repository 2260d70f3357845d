import CLibXML2Peer

/// libxml2 that reads every byte and does nothing with what it finds: the least that a reader on top of it takes.
final class EmptySAXPeer: Peer {
  static let name = "libxml2, empty SAX2 pass"

  private let sample: Sample

  init(_ sample: Sample) { self.sample = sample }

  func prepare(_ workload: Workload) throws -> Run? {
    switch workload {
    case .parse:
      let bytes = try sample.bytes()
      return { try seconds(of: { try EmptySAXPeer.parse(bytes) }, check: {}) }
    case .open, .rows:
      return { [sample] in try seconds(of: { try EmptySAXPeer.parse(sample.bytes()) }, check: {}) }
    default: return nil
    }
  }

  /// - Throws: ``WrongResult`` if libxml2 did not get to the end of a sound document.
  private static func parse(_ bytes: [UInt8]) throws {
    var handler = xmlSAXHandler()
    handler.initialized = XML_SAX2_MAGIC
    handler.startElementNs = { _, _, _, _, _, _, _, _, _ in }
    handler.endElementNs = { _, _, _, _ in }
    handler.characters = { _, _, _ in }
    handler.ignorableWhitespace = handler.characters
    handler.cdataBlock = handler.characters
    let context = xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil)
    defer { xmlFreeParserCtxt(context) }
    xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue))
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        // The pieces that FileDB hands over.
        let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(64 << 10))
        xmlParseChunk(context, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(piece.count), 0)
        rest = rest.dropFirst(piece.count)
      }
    }
    try expect(xmlParseChunk(context, nil, 0, 1) == 0 && context?.pointee.wellFormed == 1, "the document")
  }
}
