internal import CFileDBCurl
import FileDB
import FileDBEssentials

/// The functions of libcurl that FileDBCluster uses. The first connection to etcd loads them. See Decisions/039.
///
/// Safe without isolation: these are pointers to functions, which never change.
struct LibCurl: @unchecked Sendable {
  /// A request, which libcurl calls an easy handle; and the connections that carry it, which it calls a multi handle.
  typealias Request = UnsafeMutableRawPointer
  typealias Connections = UnsafeMutableRawPointer
  typealias List = UnsafeMutableRawPointer

  let makeRequest: @convention(c) () -> Request?
  let reset: @convention(c) (Request) -> Void
  let freeRequest: @convention(c) (Request) -> Void
  let describe: @convention(c) (CInt) -> UnsafePointer<CChar>?
  let append: @convention(c) (List?, UnsafePointer<CChar>) -> List?
  let freeList: @convention(c) (List?) -> Void
  let makeConnections: @convention(c) () -> Connections?
  let add: @convention(c) (Connections, Request) -> CInt
  let remove: @convention(c) (Connections, Request) -> CInt
  let perform: @convention(c) (Connections, UnsafeMutablePointer<CInt>) -> CInt
  let poll:
    @convention(c) (Connections, UnsafeMutableRawPointer?, CUnsignedInt, CInt, UnsafeMutablePointer<CInt>?) ->
      CInt
  let wakeUp: @convention(c) (Connections) -> CInt
  let nextMessage:
    @convention(c) (Connections, UnsafeMutablePointer<CInt>) -> UnsafePointer<filedb_curl_message>?
  let freeConnections: @convention(c) (Connections) -> CInt
  private let setOption: UnsafeMutableRawPointer
  private let getInformation: UnsafeMutableRawPointer

  /// Numbers of libcurl's enumerations. They have never changed.
  enum Option: CInt {
    case post = 47
    case httpGet = 80
    case httpVersion = 84
    case noSignal = 99
    case connectTimeout = 156
    case keepAlive = 213
    case keepAliveIdle = 214
    case keepAliveInterval = 215
    case quickExit = 322
    case receiver = 10001
    case url = 10002
    case proxy = 10004
    case sender = 10009
    case errorText = 10010
    case headers = 10023
    case certificate = 10025
    case keyPassword = 10026
    case headerReceiver = 10029
    case authority = 10065
    case key = 10087
    case authorities = 10097
    case rewinder = 10168
    case receive = 20011
    case send = 20012
    case receiveHeader = 20079
    case rewind = 20167
    case bodySize = 30120
  }
  static let http1: CLong = 2
  static let isDone: CInt = 1
  /// Results of a request.
  static let noHost: CInt = 6
  static let noConnection: CInt = 7
  static let noHandshake: CInt = 35
  static let noAnswer: CInt = 52
  /// What a function that sends or rewinds returns to end the request.
  static let abortSending = 0x1000_0000
  static let rewindingFails: CInt = 1
  private static let allFeatures: CLong = 3
  private static let status: CInt = 0x20_0002
  private static let systemError: CInt = 0x20_0019

  private static let loaded = Result { () throws(StoreError) in try LibCurl() }

  /// - Throws: ``StoreError/Code/unreachable`` if libcurl is not installed, or is older than 7.68, of 2020.
  static func load() throws(StoreError) -> LibCurl { try loaded.get() }

  private init() throws(StoreError) {
    #if canImport(Darwin)
      let files = ["/usr/lib/libcurl.4.dylib"]
    #else
      let files = ["libcurl.so.4", "libcurl-gnutls.so.4"]
    #endif
    let library = try DynamicLibrary("libcurl, a client library for HTTP,", files: files, package: "libcurl4")
    makeRequest = try library.function("curl_easy_init")
    reset = try library.function("curl_easy_reset")
    freeRequest = try library.function("curl_easy_cleanup")
    describe = try library.function("curl_easy_strerror")
    append = try library.function("curl_slist_append")
    freeList = try library.function("curl_slist_free_all")
    makeConnections = try library.function("curl_multi_init")
    add = try library.function("curl_multi_add_handle")
    remove = try library.function("curl_multi_remove_handle")
    perform = try library.function("curl_multi_perform")
    poll = try library.function("curl_multi_poll")
    wakeUp = try library.function("curl_multi_wakeup")
    nextMessage = try library.function("curl_multi_info_read")
    freeConnections = try library.function("curl_multi_cleanup")
    setOption = try library.address("curl_easy_setopt")
    getInformation = try library.address("curl_easy_getinfo")
    let start: @convention(c) (CLong) -> CInt = try library.function("curl_global_init")
    guard start(Self.allFeatures) == 0 else { throw StoreError(.unreachable, "libcurl cannot be used") }
  }

  func set(_ option: Option, _ number: CLong, of request: Request) {
    _ = filedb_curl_set_number(setOption, request, option.rawValue, number)
  }

  func set(_ option: Option, size: Int, of request: Request) {
    _ = filedb_curl_set_size(setOption, request, option.rawValue, CLongLong(size))
  }

  /// libcurl copies the text.
  func set(_ option: Option, _ text: String, of request: Request) {
    text.withCString { _ = filedb_curl_set_pointer(setOption, request, option.rawValue, $0) }
  }

  func set(_ option: Option, _ pointer: UnsafeRawPointer?, of request: Request) {
    _ = filedb_curl_set_pointer(setOption, request, option.rawValue, pointer)
  }

  /// The number in the first line of the answer.
  func status(of request: Request) -> Int { number(Self.status, of: request) }

  /// Why the system made no connection; 0 if it did.
  func systemError(of request: Request) -> CInt {
    CInt(truncatingIfNeeded: number(Self.systemError, of: request))
  }

  private func number(_ what: CInt, of request: Request) -> Int {
    var number: CLong = 0
    _ = filedb_curl_get_number(getInformation, request, what, &number)
    return number
  }
}
