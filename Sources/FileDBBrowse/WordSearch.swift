import FileDB
import FileDBEssentials

/// A search for words in the text of records, and in their dates as a page shows them.
struct WordSearch {
  private let text: String
  private let zone: TimeZone

  init(_ text: String, in zone: TimeZone) { (self.text, self.zone) = (text, zone) }

  /// The records that have all of the words, in order.
  func ids(of snapshot: TableSnapshot<Fields>) -> [RecordID<Fields>] {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    let dates = words.filter(Self.mayBeOfDate)
    if dates.isEmpty { return snapshot.search(text).map(\.id) }
    let others = words.filter { !Self.mayBeOfDate($0) }.joined(separator: " ")
    var found = others.isEmpty ? snapshot.ids : snapshot.search(others).map(\.id)
    for word in dates {
      let inText = Set(snapshot.search(word).map(\.id))
      found = found.filter { id in
        inText.contains(id) || snapshot[id: id].map { hasDate($0, with: word) } ?? false
      }
    }
    return found
  }

  /// Whether a word is part of a date or of a time: `2026`, `11-30`, `18:45`.
  private static func mayBeOfDate(_ word: String) -> Bool {
    word.utf8.contains { (0x30...0x39).contains($0) }
      && word.utf8.allSatisfy { (0x30...0x3A).contains($0) || $0 == UInt8(ascii: "-") }
  }

  private func hasDate(_ record: StoredRecord<Fields>, with word: String) -> Bool {
    record.fields.dictionary.contains { field in
      field.value.date.map { shown($0).contains(word) } ?? false
    }
  }

  /// The date as a page shows it: `2026-11-30 18:45:00`.
  private func shown(_ date: Date) -> String {
    let local = date.addingTimeInterval(Double(zone.secondsFromGMT(for: date)))
    return String(PlistValue.date(local).description.prefix(19)).replacing("T", with: " ")
  }
}
