import FileDB
import Foundation

struct Food: Codable, Sendable {
  var name: String
  var kcal: Int
}

extension TableName<Food> { static var foods: Self { "foods" } }

/// An app that comes with a list of foods, which its user can change.
struct FoodApp {
  /// The folder of the shipped data. In a real app: `Bundle.main.url(forResource: "Foods", withExtension: nil)`.
  let bundle: URL
  let version: ShippedVersion
  /// The folder of the user's data, for example in the folder for application support.
  let userFolder: URL

  /// The app calls this at every start.
  func start(_ policy: InstallPolicy = .merge) throws -> RecordTable<Food> {
    let report = try ShippedStore.install(from: bundle, to: userFolder, version: version, policy: policy)
    for line in lines(of: report) { print(line) }
    return try RecordStore(at: userFolder).table(.foods)
  }

  private func lines(of report: InstallReport) -> [String] {
    guard let former = report.formerVersion else { return ["version \(report.version) is installed"] }
    if former == report.version { return ["version \(report.version) is already installed"] }
    return ["version \(report.version) is installed over \(former)"]
      + report.tables.flatMap(\.conflicts).map(text)
  }

  /// Tells the user that the new version has other data, and that the user's data stays.
  private func text(_ conflict: MergeConflict) -> String {
    switch conflict.kind {
    case .field(let field, _, let ours, let theirs):
      "  your \(field) \(text(ours)) stays, although it is now \(text(theirs))"
    case .deletedByOurs(_, let theirs): "  \(text(theirs["name"])) has changed, but stays deleted"
    case .deletedByTheirs(_, let ours):
      "  \(text(ours["name"])) is no longer shipped, but stays, because you changed it"
    case .rule(let field, let message): "  \(field): \(message)"
    case .order: "  your order stays, although there is a new one"
    }
  }

  private func text(_ value: PlistValue?) -> String {
    value.map { $0.string ?? $0.integer.map(\.description) ?? "\($0)" } ?? "nothing"
  }
}
