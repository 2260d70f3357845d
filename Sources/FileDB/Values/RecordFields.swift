import FileDBEssentials
import FileDBPlist
import FileDBTables

/// The fields of a record in its bytes. Each is read when somebody asks for it.
///
/// One object serves for many records. The records of a table are mostly similar, so a field is first looked for where
/// it was in the previous record. A field that a record lacks may have a default. Then it is as if the record had it.
///
/// A dictionary inside a record has an object of its own, made when somebody decodes it.
final class RecordFields {
  // Each of these is read or written only for a moment, and never during another access to it.
  @exclusivity(unchecked) private(set) var reader = CanonicalReader(
    UnsafeRawBufferPointer(start: nil, count: 0))
  @exclusivity(unchecked) private var entries = EntryList()
  /// The entry that answered each request, in the order of the requests for the previous record.
  @exclusivity(unchecked) private var answers: [Int] = []
  @exclusivity(unchecked) private var questions = 0
  /// The entry after the last one that was asked for. A type that asks for all fields in order finds each at once.
  @exclusivity(unchecked) private var next = 0
  /// What holds the bytes for longer than ``read(_:_:)`` takes: a record's bytes, or the fields that a dictionary is in.
  private var owner: Any?
  private let defaults: Fields?

  init(defaults: Fields? = nil) {
    self.defaults = defaults
  }

  /// The entries of a dictionary inside a record.
  init(of dict: CanonicalElement, in record: RecordFields) {
    defaults = nil
    owner = record
    reader = record.reader
    entries.fill(from: reader, dict)
  }

  /// An array or a dictionary that is not in a record.
  init(keeping value: PlistValue) {
    defaults = nil
    var writer = PlistWriter()
    writer.append(value, indentation: 0)
    keep(writer.bytes[...])
  }

  /// The value of ``init(keeping:)``.
  var whole: CanonicalElement {
    guard let element = reader.element(indentation: 0) else {
      preconditionFailure("the bytes are not canonical")
    }
    return element
  }

  /// Calls `body` while these are the fields of `record`.
  /// - Complexity: O(*n*) in the size of the record; nothing is copied.
  func read<Output, Failure: Error>(
    _ record: EncodedRecord, _ body: () throws(Failure) -> Output
  ) throws(Failure) -> Output {
    let result = record.bytes.withUnsafeBytes { bytes in
      find(in: bytes)
      return Result { () throws(Failure) in try body() }
    }
    return try result.get()
  }

  /// The same for a body that writes its result to its final place. The other function looks up the metadata of the
  /// result's type for each record, which takes as long as reading some fields.
  func visit(_ record: EncodedRecord, _ body: () throws -> Void) throws {
    try withExtendedLifetime(record) {
      find(in: record.retainedBytes)
      try body()
    }
  }

  private func find(in bytes: UnsafeRawBufferPointer) {
    reader = CanonicalReader(bytes)
    questions = 0
    next = 0
    entries.fill(from: reader, reader.dict(indentation: TableFile.depthOfFields - 1))
    entries.remove(TableFile.idName, from: reader)
  }

  /// Keeps the fields of the last record for good, for a value that has kept its decoder. Until that is gone, all of the
  /// file's bytes stay in memory.
  func keep(_ record: EncodedRecord) { keep(record.bytes) }

  private func keep(_ bytes: ArraySlice<UInt8>) {
    owner = bytes
    reader = CanonicalReader(bytes.withUnsafeBytes { $0 })
  }

  /// The record's own fields come first.
  var names: [String] {
    let own = (0..<entries.count).map { reader.text(entries.key($0)) }
    guard let defaults else { return own }
    return own + defaults.dictionary.keys.filter { name in place(of: name) == nil }
  }

  func contains(_ name: String) -> Bool { element(name) != nil || defaults?[name] != nil }

  subscript(name: String) -> PlistValue? {
    guard let element = element(name) else { return defaults?[name] }
    return reader.value(of: element)
  }

  /// - Parameter parent: the decoder of the dictionary; `nil` for the record itself.
  func decoder(of key: any CodingKey, in parent: ElementDecoder?) -> ElementDecoder? {
    let name = key.stringValue
    if let element = element(name) { return ElementDecoder(element, reader, of: self, in: parent, key) }
    return defaults?[name].map { ElementDecoder($0, in: parent, key) }
  }

  func string(_ name: String) -> String? {
    guard let element = element(name) else { return defaults?[name]?.string }
    return reader.string(element)
  }

  func bool(_ name: String) -> Bool? {
    guard let element = element(name) else { return defaults?[name]?.bool }
    return reader.bool(element)
  }

  func integer(_ name: String) -> Int64? {
    guard let element = element(name) else { return defaults?[name]?.integer }
    return reader.integer(element)
  }

  func real(_ name: String) -> Double? {
    guard let element = element(name) else { return defaults?[name]?.real }
    return reader.real(element)
  }

  func date(_ name: String) -> Date? {
    guard let element = element(name) else { return defaults?[name]?.date }
    return reader.date(element)
  }

  private func element(_ name: String) -> CanonicalElement? {
    let question = questions
    questions += 1
    if question < answers.count {
      let answer = answers[question]
      if answer < entries.count, reader.isText(entries.key(answer), name) { return entries.element(answer) }
    }
    let isNext = next < entries.count && reader.isText(entries.key(next), name)
    guard let place = isNext ? next : place(of: name) else { return nil }
    next = place + 1
    remember(place, for: question)
    return entries.element(place)
  }

  private func place(of name: String) -> Int? {
    (0..<entries.count).first { reader.isText(entries.key($0), name) }
  }

  private func remember(_ place: Int, for question: Int) {
    // A type that makes so many requests has no fixed order that is worth remembering.
    guard question < 256 else { return }
    while answers.count <= question { answers.append(place) }
    answers[question] = place
  }
}

extension EncodedRecord {
  /// The bytes, for somebody who keeps the record meanwhile. All records of a file share one reference count. If each
  /// were retained while it is read, two threads would wait for each other at that count. It is here and not in
  /// `FileDBTables`, because the compiler inlines it only in its own module.
  var retainedBytes: UnsafeRawBufferPointer { bytes.withUnsafeBytes { $0 } }
}
