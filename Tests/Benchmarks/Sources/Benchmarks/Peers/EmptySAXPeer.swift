import CLibXML2Peer
import Foundation

/// libxml2 that reads every byte and does nothing with what it finds: the least that a reader on top of it takes.
enum EmptySAXPeer: Peer {
  static let name = "libxml2, empty SAX2 pass"

  static func cases(_ task: Task, _ sample: Sample) throws -> [Case] {
    switch task {
    case .readValues:
      let bytes = try sample.bytes()
      return [Case(name: name) { try parse(bytes) }]
    case .openAndCount, .readRows: return [Case(name: name) { try parse(sample.bytes()) }]
    case .writeValues, .commit: return []
    }
  }

  static func open(_ sample: Sample) throws -> Any { try parse(sample.bytes()) }

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
    guard xmlParseChunk(context, nil, 0, 1) == 0, context?.pointee.wellFormed == 1 else {
      throw WrongResult()
    }
  }
}
