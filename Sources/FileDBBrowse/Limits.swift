import NIOCore

/// How much of the machine those who connect may take.
struct Limits: Sendable {
  var connections = 64
  var eventStreams = 16
  var headBytes = 16 << 10
  var bodyBytes = 32 << 20
  /// From the first byte of a request, or of the connection, to the request's last.
  var requestTime = TimeAmount.seconds(10)
  /// Between two requests of a connection.
  var idleTime = TimeAmount.seconds(60)
  /// For a reader to take a piece of an answer.
  var writeTime = TimeAmount.seconds(30)
  /// For a client to read why it was refused, and to hang up.
  var partingTime = TimeAmount.seconds(2)
  /// The bytes of a file from which on a page does not wait until it was read, but says that it is being read.
  var largeTable: Int64 = 8 << 20
  /// Between two signs of life of an event stream.
  var heartbeat = TimeAmount.seconds(15)
}
