import FileDB
import FileDBEssentials

/// The functions of libpq that FileDBCluster uses. The first connection loads them. So you don't need PostgreSQL's
/// headers to build FileDB, and a program doesn't need libpq before it connects. See Decisions/037.
///
/// Safe without isolation: these are pointers to functions, which never change.
struct LibPQ: @unchecked Sendable {
  typealias Words = UnsafePointer<UnsafePointer<CChar>?>

  let parse:
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) ->
      OpaquePointer?
  let freeOptions: @convention(c) (OpaquePointer?) -> Void
  let connect: @convention(c) (Words, Words, CInt) -> OpaquePointer?
  let status: @convention(c) (OpaquePointer?) -> CInt
  let errorMessage: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
  let socket: @convention(c) (OpaquePointer?) -> CInt
  let host: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
  let hostAddress: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
  let port: @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
  let serverProcess: @convention(c) (OpaquePointer?) -> CInt
  let finish: @convention(c) (OpaquePointer?) -> Void
  let setNonBlocking: @convention(c) (OpaquePointer?, CInt) -> CInt
  let setNoticeReceiver:
    @convention(c) (
      OpaquePointer?, @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void,
      UnsafeMutableRawPointer?
    ) -> OpaquePointer?
  let sendScript: @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> CInt
  let sendStatement:
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, CInt, UnsafePointer<UInt32>?, Words?, UnsafePointer<CInt>?,
      UnsafePointer<CInt>?, CInt
    ) -> CInt
  let prepare:
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, UnsafePointer<CChar>, CInt, UnsafePointer<UInt32>?
    ) -> CInt
  let sendPrepared:
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, CInt, Words?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt
    ) -> CInt
  let putCopyData: @convention(c) (OpaquePointer?, UnsafePointer<UInt8>?, CInt) -> CInt
  let putCopyEnd: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> CInt
  let flush: @convention(c) (OpaquePointer?) -> CInt
  let consumeInput: @convention(c) (OpaquePointer?) -> CInt
  let isBusy: @convention(c) (OpaquePointer?) -> CInt
  let nextResult: @convention(c) (OpaquePointer?) -> OpaquePointer?
  let resultStatus: @convention(c) (OpaquePointer?) -> CInt
  let errorField: @convention(c) (OpaquePointer?, CInt) -> UnsafePointer<CChar>?
  let rowCount: @convention(c) (OpaquePointer?) -> CInt
  let columnCount: @convention(c) (OpaquePointer?) -> CInt
  let isNull: @convention(c) (OpaquePointer?, CInt, CInt) -> CInt
  let length: @convention(c) (OpaquePointer?, CInt, CInt) -> CInt
  let value: @convention(c) (OpaquePointer?, CInt, CInt) -> UnsafePointer<UInt8>?
  let clear: @convention(c) (OpaquePointer?) -> Void
  let nextNotification: @convention(c) (OpaquePointer?) -> UnsafeMutableRawPointer?
  let freeMemory: @convention(c) (UnsafeMutableRawPointer?) -> Void

  private static let loaded = Result { () throws(StoreError) in try LibPQ() }

  /// An option of a connection string.
  struct Option {
    let name: String
    let value: String
    /// Whether the value must not be shown, as for a password.
    let isSecret: Bool
  }

  /// The options in a connection string, which libpq parses.
  /// - Throws: ``StoreError/Code/unreachable`` if libpq does not understand it. The error does not repeat any part of
  ///   it.
  func options(of info: String) throws(StoreError) -> [Option] {
    guard let start = info.withCString({ parse($0, nil) }) else {
      throw StoreError(.unreachable, "libpq does not understand this connection string")
    }
    defer { freeOptions(start) }
    var (options, next): ([Option], UnsafeRawPointer) = ([], UnsafeRawPointer(start))
    // The fields of `PQconninfoOption`: keyword, envvar, compiled, val, label, dispchar and a number.
    typealias Words = UnsafePointer<CChar>?
    while let name = next.load(as: Words.self) {
      func word(_ number: Int) -> String? {
        next.load(fromByteOffset: number * MemoryLayout<Words>.stride, as: Words.self).map {
          String(cString: $0)
        }
      }
      if let value = word(3) {
        options.append(Option(name: String(cString: name), value: value, isSecret: word(5) == "*"))
      }
      next += 7 * MemoryLayout<Words>.stride
    }
    return options
  }

  /// - Throws: ``StoreError/Code/unreachable`` if libpq is not installed.
  static func load() throws(StoreError) -> LibPQ { try loaded.get() }

  private init() throws(StoreError) {
    #if canImport(Darwin)
      let names = [
        "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
        "/usr/local/opt/libpq/lib/libpq.5.dylib",
      ]
    #else
      let names = ["libpq.so.5"]
    #endif
    let library = try DynamicLibrary("libpq, PostgreSQL's client library,", files: names, package: "libpq5")
    parse = try library.function("PQconninfoParse")
    freeOptions = try library.function("PQconninfoFree")
    connect = try library.function("PQconnectdbParams")
    status = try library.function("PQstatus")
    errorMessage = try library.function("PQerrorMessage")
    socket = try library.function("PQsocket")
    host = try library.function("PQhost")
    hostAddress = try library.function("PQhostaddr")
    port = try library.function("PQport")
    serverProcess = try library.function("PQbackendPID")
    finish = try library.function("PQfinish")
    setNonBlocking = try library.function("PQsetnonblocking")
    setNoticeReceiver = try library.function("PQsetNoticeReceiver")
    sendScript = try library.function("PQsendQuery")
    sendStatement = try library.function("PQsendQueryParams")
    prepare = try library.function("PQsendPrepare")
    sendPrepared = try library.function("PQsendQueryPrepared")
    putCopyData = try library.function("PQputCopyData")
    putCopyEnd = try library.function("PQputCopyEnd")
    flush = try library.function("PQflush")
    consumeInput = try library.function("PQconsumeInput")
    isBusy = try library.function("PQisBusy")
    nextResult = try library.function("PQgetResult")
    resultStatus = try library.function("PQresultStatus")
    errorField = try library.function("PQresultErrorField")
    rowCount = try library.function("PQntuples")
    columnCount = try library.function("PQnfields")
    isNull = try library.function("PQgetisnull")
    length = try library.function("PQgetlength")
    value = try library.function("PQgetvalue")
    clear = try library.function("PQclear")
    nextNotification = try library.function("PQnotifies")
    freeMemory = try library.function("PQfreemem")
  }

  // Values of libpq's enumerations. They have never changed.
  static let connectionIsOpen: CInt = 0
  static let commandIsDone: CInt = 1
  static let rowsAreThere: CInt = 2
  static let copyIsAwaited: CInt = 4
  /// Field codes of an error.
  static let sqlState = CInt(UInt8(ascii: "C"))
  static let sourceFunction = CInt(UInt8(ascii: "R"))
  static let primaryMessage = CInt(UInt8(ascii: "M"))
}
