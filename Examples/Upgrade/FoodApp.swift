import FileDB
import Foundation

struct Food: Codable, Sendable {
  var name: String
  var kcal: Int
}

extension TableName<Food> { static var foods: Self { "foods" } }

/// An app that comes with a list of foods, which its user goes on with.
struct FoodApp {
  /// Where the app's own data is: in a real one, `Bundle.main.url(forResource: "Foods", withExtension: nil)`.
  let bundle: URL
  let version: ShippedVersion
  /// Where the user's is, such as the folder for application support.
  let userFolder: URL

  /// What the app does at every start.
  func start(_ policy: InstallPolicy = .merge) throws -> RecordTable<Food> {
    let report = try ShippedStore.install(from: bundle, to: userFolder, version: version, policy: policy)
    for line in lines(of: report) { print(line) }
    return try RecordStore(at: userFolder).table(.foods)
  }

  private func lines(of report: InstallReport) -> [String] {
    guard let former = report.formerVersion else { return ["version \(report.version) is installed"] }
    if former == report.version { return ["version \(report.version) is there already"] }
    return ["version \(report.version) is installed over \(former)"]
      + report.tables.flatMap(\.conflicts).map(text)
  }

  /// What the user may want to know: the new version has something else, and what the user has stays.
  private func text(_ conflict: MergeConflict) -> String {
    switch conflict.kind {
    case .field(let field, _, let ours, let theirs):
      "  your \(field) \(text(ours)) stays, though it is \(text(theirs)) now"
    case .deletedByOurs(_, let theirs): "  \(text(theirs["name"])) has changed, and stays deleted"
    case .deletedByTheirs(_, let ours): "  \(text(ours["name"])) is gone, but for you, who changed it"
    case .rule(let field, let message): "  \(field): \(message)"
    }
  }

  private func text(_ value: PlistValue?) -> String {
    value.map { $0.string ?? $0.integer.map(\.description) ?? "\($0)" } ?? "nothing"
  }
}
