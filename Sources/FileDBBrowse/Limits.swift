import NIOCore

/// How much of the machine's resources clients may use.
struct Limits: Sendable {
  var connections = 64
  var eventStreams = 16
  var headBytes = 16 << 10
  var bodyBytes = 32 << 20
  /// From the first byte of a request, or from the start of the connection, to the last byte of the request.
  var requestTime = TimeAmount.seconds(10)
  /// The time between two requests on a connection.
  var idleTime = TimeAmount.seconds(60)
  /// The time for a client to receive a piece of an answer.
  var writeTime = TimeAmount.seconds(30)
  /// The time for a client to read a refusal and close the connection.
  var partingTime = TimeAmount.seconds(2)
  /// From this file size on, a page does not wait until a table is read. It shows that the table is being read.
  var largeTable: Int64 = 8 << 20
  /// The time between two heartbeats of an event stream.
  var heartbeat = TimeAmount.seconds(15)
}
