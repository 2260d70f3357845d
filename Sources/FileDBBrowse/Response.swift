import NIOHTTP1

/// The server's answer to a request.
struct Response: Sendable {
  enum Body: Sendable {
    case bytes([UInt8])
    /// Sent in pieces, because the whole may be too large for memory. The closure runs on a thread that may wait.
    case pieces(@Sendable (_ send: ([UInt8]) throws -> Void) throws -> Void)
    /// A stream of events from now on.
    case events
  }

  var status = HTTPResponseStatus.ok
  var headers: HTTPHeaders
  var body: Body

  var hasKnownLength: Bool { if case .bytes = body { true } else { false } }

  static func json(_ json: JSON, status: HTTPResponseStatus = .ok) -> Response {
    Response(
      status: status, headers: ["Content-Type": "application/json; charset=utf-8"], body: .bytes(json.bytes))
  }

  static func error(_ error: RequestError) -> Response { json(error.json, status: error.status) }

  /// A page that contains only text.
  static func page(_ status: HTTPResponseStatus, _ text: String) -> Response {
    let html = """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <title>filedb browse</title></head><body><p>\(text)</p></body></html>

      """
    return Response(
      status: status, headers: ["Content-Type": "text/html; charset=utf-8"], body: .bytes(Array(html.utf8)))
  }

  /// The headers of every answer, unless it sets them itself.
  static let commonHeaders: HTTPHeaders = [
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": """
    default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; \
    worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
    """,
  ]
}
