import FileDBPlist
import Foundation

/// The fields of a record where they lie in its bytes: each is read when it is asked for.
///
/// Goes from record to record, since those of a table are mostly alike: a field is first looked for where it was in the
/// record before.
final class RecordFields {
  typealias Entry = (key: Range<Int>, element: CanonicalElement)

  // Each is read and written for a moment only, never while another access to it is going on.
  @exclusivity(unchecked) private var reader = CanonicalReader(UnsafeRawBufferPointer(start: nil, count: 0))
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// Which entry each question was about, in the order in which they were asked of the record before.
  @exclusivity(unchecked) private var answers: [Int] = []
  @exclusivity(unchecked) private var questions = 0
  /// The entry behind the one that was asked for last: who asks for all of them in order finds each at once.
  @exclusivity(unchecked) private var next = 0
  /// Of a record that is looked at for longer than ``read(_:_:)`` takes.
  private var kept: UnsafeMutableRawBufferPointer?

  init() { entries.reserveCapacity(16) }

  deinit { kept?.deallocate() }

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

  private func find(in bytes: UnsafeRawBufferPointer) {
    reader = CanonicalReader(bytes)
    questions = 0
    next = 0
    entries.removeAll(keepingCapacity: true)
    var cursor = reader.entries(of: reader.dict(indentation: TableFile.depthOfFields - 1))
    while let entry = cursor.next() {
      if !reader.isText(entry.key, TableFile.idKey) { entries.append(entry) }
    }
  }

  /// Keeps the fields of the record that was read last, for good.
  func keep(_ record: EncodedRecord) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: record.bytes.count, alignment: 1)
    copy.copyBytes(from: record.bytes)
    kept = copy
    reader = CanonicalReader(UnsafeRawBufferPointer(copy))
  }

  var names: [String] { entries.map { reader.text($0.key) } }
  func contains(_ name: String) -> Bool { element(name) != nil }
  subscript(name: String) -> PlistValue? { element(name).map { reader.value(of: $0) } }

  func string(_ name: String) -> String? { element(name).flatMap { reader.string($0) } }
  func bool(_ name: String) -> Bool? { element(name).flatMap { reader.bool($0) } }
  func integer(_ name: String) -> Int64? { element(name).flatMap { reader.integer($0) } }
  func real(_ name: String) -> Double? { element(name).flatMap { reader.real($0) } }
  func date(_ name: String) -> Date? { element(name).flatMap { reader.date($0) } }

  private func element(_ name: String) -> CanonicalElement? {
    let question = questions
    questions += 1
    if question < answers.count {
      let answer = answers[question]
      if answer < entries.count, reader.isText(entries[answer].key, name) { return entries[answer].element }
    }
    let isNext = next < entries.count && reader.isText(entries[next].key, name)
    guard let place = isNext ? next : entries.firstIndex(where: { reader.isText($0.key, name) }) else {
      return nil
    }
    next = place + 1
    remember(place, for: question)
    return entries[place].element
  }

  private func remember(_ place: Int, for question: Int) {
    // More questions than anybody's fields make no shape to be remembered.
    guard question < 256 else { return }
    while answers.count <= question { answers.append(place) }
    answers[question] = place
  }
}
