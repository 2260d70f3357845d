/// A port of this machine that no other program can get. A server may listen there, as often as it likes.
///
/// A port that was only found free may be another program's before the server listens. This one is bound all the time,
/// but nobody listens: a client is refused. The system lets a server have the same port, because both use
/// `SO_REUSEADDR`. It does not give it to somebody who asks for any free port.
package final class HeldPort: Sendable {
  private let socket: LoopbackSocket
  package var number: Int { socket.port }

  package init() throws { socket = try LoopbackSocket() }
}
