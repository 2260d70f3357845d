import FileDBEssentials
import Synchronization

/// Sends requests to the members of an etcd cluster. Threads that send at the same time use separate connections.
final class EtcdClient: Sendable {
  private struct State {
    /// The endpoint that answered last.
    var current = 0
    /// Open connections to that endpoint that are not in use.
    var idle: [EtcdConnection] = []
    var token: String?
  }

  let address: EtcdAddress
  private let patience: Mutex<Duration>
  private let state = Mutex(State())

  init(_ address: EtcdAddress, timeout: Duration) {
    self.address = address
    patience = Mutex(timeout)
  }

  /// How long to wait for an endpoint's answer. A test shortens it where the time must run out.
  var timeout: Duration {
    get { patience.withLock(\.self) }
    set { patience.withLock { $0 = newValue } }
  }

  var endpoint: EtcdEndpoint { state.withLock { address.endpoints[$0.current] } }

  // MARK: Requests

  /// Runs a transaction that changes something. It is sent only once.
  ///
  /// After ``EtcdFailure/lost(_:)``, nobody knows whether etcd has carried it out.
  func change(_ transaction: EtcdTransaction) throws(EtcdFailure) -> EtcdAnswer {
    try send("/v3/kv/txn", transaction)
  }

  /// Runs a transaction that only reads, or that may run more than once.
  ///
  /// If an endpoint does not answer, this asks the others. It keeps asking while they elect a leader.
  /// - Returns: an answer with as many ranges as there are `get` operations.
  func ask(_ operations: [EtcdOperation]) throws(EtcdFailure) -> EtcdAnswer {
    let answer: EtcdAnswer = try ask("/v3/kv/txn", EtcdTransaction(success: operations))
    guard answer.ranges.count == operations.count(where: \.isGet) else {
      throw .refused(.other, "its answer lacks some of the ranges")
    }
    return answer
  }

  func ask<Answer: Decodable>(
    _ path: String, _ request: some Encodable
  ) throws(EtcdFailure) -> Answer {
    let deadline = ContinuousClock.now + timeout
    var attempts = 0
    while true {
      do throws(EtcdFailure) { return try send(path, request) } catch {
        attempts += 1
        let mayTryAgain = attempts < address.endpoints.count || ContinuousClock.now < deadline
        // After any other failure, another attempt is useless. `unreachable` means that all endpoints were tried.
        guard case .lost = error, mayTryAgain else { throw error }
        usleep(20_000)
      }
    }
  }

  /// The text of a page outside the JSON gateway, such as `/metrics`.
  func page(_ path: String) throws(EtcdFailure) -> String {
    String(decoding: try response(to: EtcdRequest(path: path)).body, as: UTF8.self)
  }

  private func send<Answer: Decodable>(
    _ path: String, _ request: some Encodable
  ) throws(EtcdFailure) -> Answer {
    let body = try Self.encoded(request)
    do throws(EtcdFailure) { return try post(path, body) } catch {
      guard case .refused(.invalidToken, _) = error else { throw error }
    }
    // etcd forgets a token after some minutes, and when a member restarts.
    forgetToken()
    return try post(path, body)
  }

  private func post<Answer: Decodable>(_ path: String, _ body: [UInt8]) throws(EtcdFailure)
    -> Answer
  {
    let response = try response(to: EtcdRequest(path: path, body: body, token: try token()))
    return try Self.answer(response)
  }

  static func encoded(_ request: some Encodable) throws(EtcdFailure) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    do { return Array(try encoder.encode(request)) } catch { throw .refused(.other, "\(error)") }
  }

  private static func answer<Answer: Decodable>(_ response: EtcdResponse) throws(EtcdFailure)
    -> Answer
  {
    let body = Data(response.body)
    if response.status == 200, let answer = try? JSONDecoder().decode(Answer.self, from: body) {
      return answer
    }
    guard let refusal = try? JSONDecoder().decode(EtcdRefusal.self, from: body), let message = refusal.text
    else {
      throw .lost("the server (HTTP \(response.status)) is not the JSON gateway of etcd 3.4 or later")
    }
    throw EtcdFailure(code: refusal.code ?? 2, message: message)
  }

  // MARK: Connections

  /// Asks the endpoint that answered last, or else the next one in the list that can be reached.
  private func response(to request: EtcdRequest) throws(EtcdFailure) -> EtcdResponse {
    var failures: [String] = []
    for _ in address.endpoints {
      let connection = try connection()
      do throws(EtcdFailure) {
        let response = try connection.send(request, within: timeout)
        giveBack(connection)
        // A member without a leader can't help: ask the next one.
        if response.status == 503 || response.status == 504 { giveUp(connection.endpoint) }
        return response
      } catch {
        giveUp(connection.endpoint)
        guard case .unreachable(let message) = error else { throw error }
        failures.append(message)
      }
    }
    throw .unreachable(failures.joined(separator: "; "))
  }

  private func connection() throws(EtcdFailure) -> EtcdConnection {
    let (endpoint, idle) = state.withLock { (address.endpoints[$0.current], $0.idle.popLast()) }
    if let idle { return idle }
    return try EtcdConnection(to: endpoint, address.security)
  }

  private func giveBack(_ connection: EtcdConnection) {
    state.withLock { state in
      if address.endpoints[state.current] == connection.endpoint { state.idle.append(connection) }
    }
  }

  /// Moves on to the next endpoint.
  private func giveUp(_ endpoint: EtcdEndpoint) {
    state.withLock { state in
      guard address.endpoints[state.current] == endpoint else { return }
      state.current = (state.current + 1) % address.endpoints.count
      state.idle = []
    }
  }

  // MARK: The user

  private struct Login: Encodable {
    let name: String
    let password: String
  }

  private struct Token: Decodable {
    let token: String
  }

  /// The next request that needs a token asks etcd for a new one.
  func forgetToken() { state.withLock { $0.token = nil } }

  /// `nil` if the address names no user.
  func token() throws(EtcdFailure) -> String? {
    guard let user = address.user else { return nil }
    if let token = state.withLock(\.token) { return token }
    let login = try Self.encoded(Login(name: user, password: address.password ?? ""))
    let answer: Token = try Self.answer(
      response(to: EtcdRequest(path: "/v3/auth/authenticate", body: login)))
    state.withLock { $0.token = answer.token }
    return answer.token
  }
}
