extension Int {
  /// A number of things, for people: "1 record", "8,789 records".
  package func counted(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }

  /// The number for people: "8,789".
  package var grouped: String {
    var (digits, groups) = (String(self)[...], [Substring]())
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: ",")
  }
}
