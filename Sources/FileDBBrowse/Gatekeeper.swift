import NIOHTTP1
import Synchronization

/// Decides which requests are allowed.
///
/// Any page in the browser can send requests to this server, and so can any program of any user of the machine. So each
/// request must name this host: a page elsewhere with a name of its own cannot do that (DNS rebinding). It must also
/// have the cookie, which only the browser that opened the printed link has. A write must also come from one of our
/// pages, with a token that only such a page can read.
final class Gatekeeper: Sendable {
  /// The token that writes must have in a header.
  let writeToken = secret()
  private let cookieValue = secret()
  /// The token in the printed link, until it has been used.
  private let invitation: Mutex<String?>
  /// The path and query of the link that opens the pages. It works once.
  let link: String

  init() {
    let token = secret()
    invitation = Mutex(token)
    link = "/?token=\(token)"
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
    let cookie = "filedb-\(port)=\(cookieValue)"  // Cookies ignore the port.
    if head.method == .GET, head.uri.hasPrefix("/?") { return enter(with: head, cookie) }
    guard has(cookie, head) else { return refusal(of: head) }
    return head.method == .POST ? answer(toWrite: head) : nil
  }

  /// The printed link works once. Somebody who sees it later in a list of processes or in a history is not let in.
  private func enter(with head: HTTPRequestHead, _ cookie: String) -> Response? {
    let isInvited = invitation.withLock { token in
      guard let expected = token, Self.isSame(head.uri, "/?token=\(expected)") else { return false }
      token = nil
      return true
    }
    guard isInvited || has(cookie, head) else { return refusal(of: head) }
    var response = Response(status: .seeOther, headers: ["Location": "/"], body: .bytes([]))
    if isInvited {
      response.headers.add(name: "Set-Cookie", value: "\(cookie); Path=/; HttpOnly; SameSite=Strict")
    }
    return response
  }

  private func answer(toWrite head: HTTPRequestHead) -> Response? {
    guard head.headers["Origin"].only != nil else {
      return .error(RequestError(.forbidden, "foreignOrigin", "A write comes from a page, with its Origin."))
    }
    guard let token = head.headers["X-FileDB-Write"].only, Self.isSame(token, writeToken) else {
      return .error(RequestError(.forbidden, "wrongToken", "The page is of an earlier start. Reload it."))
    }
    let type = head.headers["Content-Type"].only?.split(separator: ";").first
    guard type?.lowercased() == "application/json" else {
      return .error(RequestError(.unsupportedMediaType, "badRequest", "A write is application/json."))
    }
    return nil
  }

  private func has(_ cookie: String, _ head: HTTPRequestHead) -> Bool {
    head.headers["Cookie"].contains { header in
      header.split(separator: ";").contains { Self.isSame(String($0.drop { $0 == " " }), cookie) }
    }
  }

  private func refusal(of head: HTTPRequestHead) -> Response {
    let text =
      "The link that 'filedb browse' printed works once, in one browser. To get a new one, start it again."
    if head.uri.hasPrefix("/api/") { return .error(RequestError(.forbidden, "notSignedIn", text)) }
    return .page(.forbidden, text)
  }

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
