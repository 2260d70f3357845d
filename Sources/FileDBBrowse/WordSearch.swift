import FileDB
import FileDBEssentials

/// A search for words in the text of records, and in their dates as a page shows them. A time with a zone, as in
/// `2026-11-30 18:45Z`, is found where a page in that zone would show it.
struct WordSearch {
  private let text: String
  private let zone: TimeZone

  init(_ text: String, in zone: TimeZone) { (self.text, self.zone) = (text, zone) }

  /// The records that have all of the words, in order.
  func ids(of snapshot: TableSnapshot<Fields>) -> [RecordID<Fields>] {
    let words = text.replacing(Self.moment, with: " ").split(whereSeparator: \.isWhitespace).map(String.init)
    let dates =
      text.matches(of: Self.moment).map { DateWord($0.output) }
      + words.filter(Self.mayBeOfDate).map { DateWord(written: $0, shown: $0, zone: zone) }
    if dates.isEmpty { return snapshot.search(text).map(\.id) }
    let others = words.filter { !Self.mayBeOfDate($0) }.joined(separator: " ")
    var found = others.isEmpty ? snapshot.ids : snapshot.search(others).map(\.id)
    for date in dates {
      let inText = Set(snapshot.search(date.written).map(\.id))
      found = found.filter { id in
        inText.contains(id) || snapshot[id: id].map(date.isIn) ?? false
      }
    }
    return found
  }

  /// A time with its zone, that is no part of a longer word.
  private static var moment: Regex<DateWord.Moment> {
    /\b([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(Z|[+-][01][0-9]:?[0-5][0-9])\b/
  }

  /// Whether a word is part of a date or of a time: `2026`, `11-30`, `18:45`.
  private static func mayBeOfDate(_ word: String) -> Bool {
    word.utf8.contains { (0x30...0x39).contains($0) }
      && word.utf8.allSatisfy { (0x30...0x3A).contains($0) || $0 == UInt8(ascii: "-") }
  }
}

/// A part of a date that is searched for.
private struct DateWord {
  /// The whole, the day, the time and the zone.
  typealias Moment = (Substring, Substring, Substring, Substring)

  let written: String
  /// As a page in `zone` shows it.
  let shown: String
  let zone: TimeZone

  init(written: String, shown: String, zone: TimeZone) {
    (self.written, self.shown, self.zone) = (written, shown, zone)
  }

  init(_ moment: Moment) {
    let (whole, day, time, zone) = moment
    let (hours, minutes) = (Int(zone.filter(\.isNumber)) ?? 0).quotientAndRemainder(dividingBy: 100)
    let offset = (zone.hasPrefix("-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
    self.init(
      written: String(whole), shown: "\(day) \(time)", zone: TimeZone(secondsFromGMT: offset) ?? .gmt)
  }

  func isIn(_ record: StoredRecord<Fields>) -> Bool {
    record.fields.dictionary.contains { field in
      field.value.date.map { text(of: $0).contains(shown) } ?? false
    }
  }

  /// The date as a page shows it: `2026-11-30 18:45:00`.
  private func text(of date: Date) -> String {
    let local = date.addingTimeInterval(Double(zone.secondsFromGMT(for: date)))
    return String(PlistValue.date(local).description.prefix(19)).replacing("T", with: " ")
  }
}
