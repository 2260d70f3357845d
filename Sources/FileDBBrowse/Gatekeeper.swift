import NIOHTTP1
import Synchronization

/// Decides which requests are allowed.
///
/// Any page in the browser can send requests to this server, and so can any program of any user of the machine. So each
/// request must name this host: a page elsewhere with a name of its own cannot do that (DNS rebinding). The pages
/// themselves hold nothing of a store, and everybody gets them. All else needs the token, which a page sends in a
/// header. A cookie would not do: browsers send it to the servers on all ports, also to those of other users.
final class Gatekeeper: Sendable {
  /// What every request to the API has in its header `Authorization`.
  private let token = secret()
  /// What the printed link has in place of the token. It is exchanged for the token once.
  private let invitation: Mutex<String?>
  /// The path and the fragment of the link that opens the pages. Browsers do not send fragments.
  let link: String

  init() {
    let text = secret()
    invitation = Mutex(text)
    link = "/#token=\(text)"
  }

  /// - Returns: the answer if the request must not be handled further; `nil` if it is allowed.
  /// - Parameter port: the port of this server.
  func answer(to head: HTTPRequestHead, at port: Int) -> Response? {
    let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    guard let host = head.headers["Host"].only, hosts.contains(host) else {
      return .page(.forbidden, "This is not a name of this server.")
    }
    guard [.GET, .HEAD, .POST].contains(head.method) else {
      var response = Response.error(
        RequestError(.methodNotAllowed, "methodNotAllowed", "The server takes GET, HEAD and POST."))
      response.headers.add(name: "Allow", value: "GET, HEAD, POST")
      return response
    }
    guard head.headers["Origin"].allSatisfy({ origin in hosts.contains { origin == "http://\($0)" } }) else {
      return .error(
        RequestError(.forbidden, "foreignOrigin", "The request comes from a page of another site."))
    }
    return head.method == .POST ? answer(toPost: head) : answer(toGet: head)
  }

  private func answer(toGet head: HTTPRequestHead) -> Response? {
    let path = head.uri.utf8.prefix { $0 != UInt8(ascii: "?") }
    let isPage = path.elementsEqual("/".utf8) || path.starts(with: "/pages/".utf8)
    return isPage || has(token, head) ? nil : Self.refusal
  }

  private func answer(toPost head: HTTPRequestHead) -> Response? {
    guard head.headers["Origin"].only != nil else {
      return .error(RequestError(.forbidden, "foreignOrigin", "A write comes from a page, with its Origin."))
    }
    if head.uri == "/api/token" { return enter(with: head) }
    guard has(token, head) else { return Self.refusal }
    let type = head.headers["Content-Type"].only?.split(separator: ";").first
    guard type?.lowercased() == "application/json" else {
      return .error(RequestError(.unsupportedMediaType, "badRequest", "A write is application/json."))
    }
    return nil
  }

  /// Gives out the token. Whoever sees the link later, in a history for example, is not let in.
  private func enter(with head: HTTPRequestHead) -> Response {
    let isInvited = invitation.withLock { text in
      guard let expected = text, has(expected, head) else { return false }
      text = nil
      return true
    }
    return isInvited ? .json(.object([("token", .string(token))])) : Self.refusal
  }

  private func has(_ secret: String, _ head: HTTPRequestHead) -> Bool {
    head.headers["Authorization"].only.map { Self.isSame($0, "Bearer \(secret)") } ?? false
  }

  private static let refusal = Response.error(
    RequestError(.forbidden, "noAccess", "The address that 'filedb browse' prints works once, in one tab."))

  /// Takes the same time wherever the strings differ.
  private static func isSame(_ left: String, _ right: String) -> Bool {
    let (left, right) = (left.utf8, right.utf8)
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// 256 random bits.
private func secret() -> String {
  var random = SystemRandomNumberGenerator()
  return (0..<4).map { _ in
    let digits = String(random.next(), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }.joined()
}

extension Array {
  /// The element, if there is exactly one.
  fileprivate var only: Element? { count == 1 ? self[0] : nil }
}
