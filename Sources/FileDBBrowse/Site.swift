import FileDB
import NIOHTTP1

/// Everything that can be requested. It finds the route for a request.
struct Site: Sendable {
  let store: RecordStore
  let access: BrowseServer.Access
  let shared: BrowseServer.SharedStore?
  let tables: WatchedTables
  let lists = RecordLists()
  let ownWrites = OwnWrites()
  let brokenFiles = BrokenFiles()

  /// - Parameter bytes: see ``Limits/largeTable``.
  init(
    _ store: RecordStore, access: BrowseServer.Access, shared: BrowseServer.SharedStore? = nil,
    largeFrom bytes: Int64
  ) {
    (self.store, self.access, self.shared) = (store, access, shared)
    tables = WatchedTables(store, largeFrom: bytes)
  }

  private static let routes =
    pageRoutes + storeRoutes + recordRoutes + editRoutes + undoRoutes + schemaRoutes + repairRoutes
    + copyRoutes
    + exchangeRoutes

  func answer(_ request: Request) -> Response {
    do {
      return try Self.route(of: request).answer(self, request)
    } catch let error as RequestError {
      return .error(error)
    } catch let error as StoreError {
      return .error(RequestError(error))
    } catch {
      return .error(RequestError(.internalServerError, "unexpected", "\(error)"))
    }
  }

  /// Whether a request may change the store. Some requests are POST only because they are long.
  static func isWrite(_ request: Request) -> Bool { (try? route(of: request).isWrite) ?? false }

  private static func route(of request: Request) throws -> Route {
    let sameName = routes.filter { $0.fits(request.path) }
    guard !sameName.isEmpty else { throw RequestError.noSuchPage }
    guard let route = sameName.first(where: { $0.takes(request.method) }) else {
      throw RequestError(
        .methodNotAllowed, "methodNotAllowed", "This does not take \(request.method.rawValue).")
    }
    return route
  }
}

/// Answers the requests for one path.
struct Route: Sendable {
  typealias Answer = @Sendable (Site, Request) throws -> Response

  private let method: HTTPMethod
  /// The parts of the path; `*` matches any.
  private let pattern: [String]
  let isWrite: Bool
  let answer: Answer

  static func get(_ pattern: String..., answer: @escaping Answer) -> Route {
    Route(method: .GET, pattern: pattern, isWrite: false, answer: answer)
  }

  /// A route that reads, but needs more than fits into an address.
  static func ask(_ pattern: String..., answer: @escaping Answer) -> Route {
    Route(method: .POST, pattern: pattern, isWrite: false, answer: answer)
  }

  /// A route that changes the store.
  static func post(_ pattern: String..., answer: @escaping Answer) -> Route {
    Route(method: .POST, pattern: pattern, isWrite: true) { site, request in
      guard case .readAndWrite = site.access else {
        throw RequestError(.forbidden, "readOnly", "The store is open for reading only.")
      }
      return try answer(site, request)
    }
  }

  func fits(_ path: [String]) -> Bool {
    path.count == pattern.count && zip(pattern, path).allSatisfy { $0 == "*" || $0 == $1 }
  }

  func takes(_ method: HTTPMethod) -> Bool { self.method == method || self.method == .GET && method == .HEAD }
}

extension Request {
  /// The table that the path names: `/api/tables/NAME/…`.
  var tableName: String { path[2] }
}
