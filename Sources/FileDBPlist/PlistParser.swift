#if canImport(libxml2)
  import libxml2
#else
  import CLibXML2
#endif

/// Reads XML property lists: strict where data could be lost, lenient where other writers differ.
///
/// libxml2 parses, in its push mode and with handlers of our own: no network, no external document type, no
/// entities but XML's five, and any warning of libxml2's is an error. See Decisions/002.
public struct PlistParser: ~Copyable {
  private let session: SAXSession
  private var source = PlistSource()

  public init(limits: PlistLimits = PlistLimits()) {
    session = SAXSession(limits: limits, sought: nil)
  }

  private init(limits: PlistLimits, sought: [PlistStep]) {
    session = SAXSession(limits: limits, sought: sought)
  }

  /// Takes the next bytes of the document, however they are cut.
  public mutating func push(_ piece: UnsafeRawBufferPointer) throws(PlistError) {
    let session = session
    try source.push(piece) { part throws(PlistError) in try session.push(part) }
  }

  /// Ends the document and returns its root.
  public mutating func finish() throws(PlistError) -> PlistValue {
    let session = session
    try source.finish { part throws(PlistError) in try session.push(part) }
    return try session.finish()
  }

  /// The root of the document that `bytes` are.
  /// - Throws: ``PlistError`` with line and column.
  /// - Complexity: O(*n*) in the number of bytes, and O(*k* log *k*) for a dictionary of *k* unsorted keys.
  public static func parse(
    _ bytes: [UInt8], limits: PlistLimits = PlistLimits()
  ) throws(PlistError) -> PlistValue {
    var parser = PlistParser(limits: limits)
    try bytes.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
    return try parser.finish()
  }

  /// What ``parse(_:limits:)`` returns, with what it passes over.
  package static func inspect(
    _ bytes: [UInt8], limits: PlistLimits = PlistLimits()
  ) throws(PlistError) -> ParsedPlist {
    var parser = PlistParser(limits: limits)
    try bytes.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
    return ParsedPlist(root: try parser.finish(), firstCommentLine: parser.session.firstCommentLine)
  }

  /// The line on which the value at `path` begins; `nil` where the document does not hold it.
  ///
  /// It reads the document again: lines are wanted only when something is wrong, and a table of a million
  /// records should not carry a million of them.
  package static func line(of path: [PlistStep], in bytes: [UInt8]) -> Int? {
    var parser = PlistParser(limits: PlistLimits(), sought: path)
    try? bytes.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
    _ = try? parser.finish()
    return parser.session.soughtLine
  }
}

/// A property list and what a rewrite would not keep.
package struct ParsedPlist {
  package let root: PlistValue
  package let firstCommentLine: Int?
}

/// One run of libxml2's push parser, feeding a ``PlistBuilder``.
private final class SAXSession {
  /// libxml2 counts a piece's bytes in a C `int`, and keeps a piece until it is used up.
  private static let pieceLength = 64 << 10

  private let limits: PlistLimits
  private var builder: PlistBuilder
  private var context: xmlParserCtxtPtr?
  private var failure: PlistError?
  private var byteCount = 0
  private(set) var soughtLine: Int?
  private(set) var firstCommentLine: Int?

  init(limits: PlistLimits, sought: [PlistStep]?) {
    self.limits = limits
    builder = PlistBuilder(limits: limits, sought: sought)
    xmlInitParser()
    var handler = Self.handler
    context = xmlCreatePushParserCtxt(&handler, Unmanaged.passUnretained(self).toOpaque(), nil, 0, nil)
    // The encoding is settled before the bytes come here, so the document's own word on it is not asked again.
    xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue))
  }

  deinit {
    // libxml2 makes a document for an entity declaration even where no handler wants one.
    if let document = context?.pointee.myDoc { xmlFreeDoc(document) }
    xmlFreeParserCtxt(context)
  }

  func push(_ bytes: UnsafeRawBufferPointer) throws(PlistError) {
    byteCount += bytes.count
    guard byteCount <= limits.fileBytes else { throw PlistError(.fileTooLarge(limit: limits.fileBytes)) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Self.pieceLength)
      let characters = UnsafeRawBufferPointer(rebasing: piece).assumingMemoryBound(to: CChar.self)
      xmlParseChunk(context, characters.baseAddress, Int32(characters.count), 0)
      if let failure { throw failure }
      rest = rest.dropFirst(piece.count)
    }
  }

  func finish() throws(PlistError) -> PlistValue {
    let wasComplete = builder.isComplete
    xmlParseChunk(context, nil, 0, 1)
    if let failure { throw failure }
    guard builder.isComplete, let root = builder.root else {
      throw wasComplete ? located(.malformed("the document does not end")) : located(.truncated)
    }
    return root
  }

  /// Runs `event` on the builder; the first error ends the parse.
  private func handle(_ event: (inout PlistBuilder) throws(PlistError) -> Void) {
    guard failure == nil else { return }
    do throws(PlistError) {
      try event(&builder)
      if builder.reachedSought, soughtLine == nil { soughtLine = currentLine }
    } catch {
      fail(error.reason)
    }
  }

  fileprivate func noticeComment() {
    if firstCommentLine == nil { firstCommentLine = currentLine }
  }

  private func fail(_ reason: PlistError.Reason) {
    guard failure == nil else { return }
    failure = located(reason)
    xmlStopParser(context)
  }

  private var currentLine: Int? { context?.pointee.input.map { Int($0.pointee.line) } }

  private func located(_ reason: PlistError.Reason) -> PlistError {
    PlistError(reason, line: currentLine, column: context?.pointee.input.map { Int($0.pointee.col) })
  }

  private func failed(_ error: xmlError) {
    guard failure == nil else { return }
    let code = xmlParserErrors(rawValue: UInt32(error.code))
    switch code {
    case XML_ERR_DOCUMENT_END, XML_ERR_TAG_NOT_FINISHED, XML_ERR_DOCUMENT_EMPTY:
      failure = located(.truncated)
    case XML_ERR_UNDECLARED_ENTITY, XML_WAR_UNDECLARED_ENTITY:
      failure = PlistError(.undefinedEntity, line: Int(error.line), column: Int(error.int2))
    default:
      let message = error.message.map { String(cString: $0) } ?? "error \(error.code)"
      let line = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? message
      failure = PlistError(.malformed(line), line: Int(error.line), column: Int(error.int2))
    }
    xmlStopParser(context)
  }
}

/// The session that libxml2 hands back to each handler.
private func owner(_ pointer: UnsafeMutableRawPointer?) -> SAXSession? {
  pointer.map { Unmanaged<SAXSession>.fromOpaque($0).takeUnretainedValue() }
}

extension SAXSession {
  /// Every handler that a property list has use for; whatever declares something is refused.
  fileprivate static var handler: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = XML_SAX2_MAGIC
    handler.startElementNs = { pointer, name, prefix, _, _, _, _, _, _ in
      guard let session = owner(pointer), let name else { return }
      let local = String(cString: name)
      let full = prefix.map { String(cString: $0) + ":" + local } ?? local
      session.handle { builder throws(PlistError) in try builder.start(full) }
    }
    handler.endElementNs = { pointer, _, _, _ in
      owner(pointer)?.handle { builder throws(PlistError) in try builder.end() }
    }
    handler.characters = { pointer, characters, count in
      let bytes = UnsafeBufferPointer(start: characters, count: Int(count))
      owner(pointer)?.handle { builder throws(PlistError) in try builder.characters(bytes) }
    }
    handler.ignorableWhitespace = handler.characters
    handler.cdataBlock = { pointer, characters, count in
      let bytes = UnsafeBufferPointer(start: characters, count: Int(count))
      owner(pointer)?.handle { builder throws(PlistError) in try builder.cdata(bytes) }
    }
    handler.comment = { pointer, _ in owner(pointer)?.noticeComment() }
    handler.serror = { pointer, error in
      guard let session = owner(pointer), let error else { return }
      session.failed(error.pointee)
    }
    handler.reference = { pointer, _ in owner(pointer)?.fail(.undefinedEntity) }
    refuseDeclarations(&handler)
    return handler
  }

  private static func refuseDeclarations(_ handler: inout xmlSAXHandler) {
    // This runs once the document type's name and identifiers are read; a `[` would open its own declarations.
    handler.internalSubset = { pointer, _, _, _ in
      guard let session = owner(pointer), let next = session.context?.pointee.input?.pointee.cur else {
        return
      }
      if next.pointee == UInt8(ascii: "[") { session.fail(.documentTypeDeclaration) }
    }
    handler.entityDecl = { pointer, _, _, _, _, _ in owner(pointer)?.fail(.documentTypeDeclaration) }
    handler.elementDecl = { pointer, _, _, _ in owner(pointer)?.fail(.documentTypeDeclaration) }
    handler.notationDecl = { pointer, _, _, _ in owner(pointer)?.fail(.documentTypeDeclaration) }
    handler.unparsedEntityDecl = { pointer, _, _, _, _ in owner(pointer)?.fail(.documentTypeDeclaration) }
    handler.attributeDecl = { pointer, _, _, _, _, _, values in
      xmlFreeEnumeration(values)
      owner(pointer)?.fail(.documentTypeDeclaration)
    }
  }
}
