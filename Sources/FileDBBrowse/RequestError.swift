import FileDB
import NIOHTTP1

/// Why a request was not carried out.
struct RequestError: Error {
  let status: HTTPResponseStatus
  let code: String
  let message: String
  var table: String?
  var record: String?
  var field: String?
  var line: Int?
  /// The place of an error in a predicate, in UTF-16 units.
  var position: Range<Int>?
  /// More members of the answer.
  var details: [(String, JSON)] = []

  init(_ status: HTTPResponseStatus, _ code: String, _ message: String) {
    (self.status, self.code, self.message) = (status, code, message)
  }

  /// The request is not in the expected form.
  static func malformed(_ message: String) -> RequestError {
    RequestError(.badRequest, "badRequest", message)
  }

  /// The page asks again later. If the request waited for the table, others would have to wait, too.
  static let beingRead = RequestError(
    .serviceUnavailable, "beingRead", "The table is being read for the first time.")

  static let noSuchPage = RequestError(.notFound, "notFound", "There is no such page.")

  init(_ error: StoreError) {
    self.init(error.status, error.code.rawValue, error.message)
    (table, record, field, line) = (error.table, error.record?.description, error.field, error.line)
  }

  var json: JSON {
    let error: [(String, JSON)] = [
      ("code", .string(code)), ("message", .string(message)), ("table", JSON(table)), ("id", JSON(record)),
      ("field", JSON(field)), ("line", JSON(line)),
      ("position", position.map { .array([.number($0.lowerBound), .number($0.upperBound)]) } ?? .null),
    ]
    return .object([("error", .object(error))] + details)
  }
}

extension StoreError {
  fileprivate var status: HTTPResponseStatus {
    switch code {
    case .recordNotFound, .tableNotFound, .indexOutOfRange: .notFound
    case .invalidPredicate, .invalidTableName: .badRequest
    case .readOnly: .forbidden
    case .conflict, .locked, .tableExists, .undoConflict, .undoStepLost, .outcomeUnknown: .conflict
    case .permissionDenied, .diskFull, .inputOutput, .closed: .internalServerError
    default: .unprocessableEntity
    }
  }
}
