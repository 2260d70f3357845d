import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

/// The time of a place, for a person who asks for it. In files, and for programs, dates are in UTC.
enum LocalTime {
  @TaskLocal private static var isWanted = false

  /// Runs `body`, in which dates are printed in this time zone, and `today` is its day.
  /// - Parameter zone: `local`, or a name such as `Europe/Berlin`; `nil` for UTC.
  /// - Throws: `ValidationError` if there is no such zone, and what `body` throws.
  static func run(in zone: String?, _ body: () throws -> Void) throws {
    guard let zone else { return try body() }
    guard zone != "local" else { return try $isWanted.withValue(true, operation: body) }
    guard exists(zone) else {
      throw ValidationError("There is no time zone '\(zone)'; write local, or a name such as Europe/Berlin.")
    }
    let former = ProcessInfo.processInfo.environment["TZ"]
    set(zone)
    defer { set(former) }
    try $isWanted.withValue(true, operation: body)
  }

  private static func exists(_ zone: String) -> Bool {
    let isName = !zone.isEmpty && !zone.hasPrefix("/") && !zone.utf8.contains(UInt8(ascii: "."))
    let folders = ["/usr/share/zoneinfo/", "/var/db/timezone/zoneinfo/"]
    return zone == "UTC"
      || isName
        && folders.contains {
          access($0 + zone, R_OK) == 0 && !FileInfo.isFolder(URL(fileURLWithPath: $0 + zone))
        }
  }

  private static func set(_ zone: String?) {
    if let zone { setenv("TZ", zone, 1) } else { unsetenv("TZ") }
    tzset()
  }

  /// The time as ISO 8601 with its offset; `nil` for a whole day, and where nobody asked for local time.
  static func text(of value: PlistValue) -> String? {
    guard isWanted, case .date(let date) = value else { return nil }
    var (seconds, parts) = (time_t(date.timeIntervalSince1970.rounded(.down)), tm())
    guard seconds % 86_400 != 0, localtime_r(&seconds, &parts) != nil else { return nil }
    let offset = Int(parts.tm_gmtoff) / 60
    func digits(_ number: some BinaryInteger, _ count: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let day = "\(digits(parts.tm_year + 1_900, 4))-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0) }.joined(separator: ":")
    return "\(day)T\(time)\(offset < 0 ? "-" : "+")\(digits(abs(offset) / 60)):\(digits(abs(offset) % 60))"
  }
}
