import FileDB

/// Why etcd did not do what it was asked for.
enum EtcdFailure: Error {
  /// No endpoint took the request: nothing was done.
  case unreachable(String)
  /// The request was sent, and no answer came: nobody knows whether it was carried out.
  case lost(String)
  /// etcd has said that it did nothing.
  case refused(Refusal, String)

  enum Refusal: Equatable {
    case requestTooLarge, tooManyOperations, noSpace, compacted, notPermitted, invalidToken, other
  }

  /// - Parameters:
  ///   - code: of gRPC.
  ///   - message: as etcd puts it.
  init(code: Int, message: String) {
    switch code {
    case _
    where message.contains("request is too large")
      || message.contains("received message larger than max"):
      // The first is etcd's, the second is of the gRPC in front of it.
      self = .refused(.requestTooLarge, message)
    case _ where message.contains("too many operations"):
      self = .refused(.tooManyOperations, message)
    case _ where message.contains("database space exceeded"): self = .refused(.noSpace, message)
    case _ where message.contains("has been compacted"): self = .refused(.compacted, message)
    case _ where message.contains("invalid auth token"): self = .refused(.invalidToken, message)
    // Unauthenticated, permission denied; and no user was named, or the wrong one.
    case 7, 16: self = .refused(.notPermitted, message)
    case 3 where message.contains("auth") || message.contains("user"):
      self = .refused(.notPermitted, message)
    // Invalid argument, not found, exhausted, failed precondition, out of range, unimplemented.
    case 3, 5, 8, 9, 11, 12: self = .refused(.other, message)
    // A timeout, or a change of the leader: the members may agree on it later.
    default: self = .lost(message)
    }
  }
}

extension StoreError {
  init(_ failure: EtcdFailure) {
    switch failure {
    case .unreachable(let message): self.init(.unreachable, message)
    case .lost(let message): self.init(.unreachable, "etcd did not answer: \(message)")
    case .refused(.requestTooLarge, _):
      self.init(
        .unrepresentableValue,
        "etcd takes no request of this size; its option --max-request-bytes has to be 1572864 at least, as by default"
      )
    case .refused(.tooManyOperations, _):
      self.init(
        .unrepresentableValue,
        "etcd takes fewer operations in a transaction than FileDB needs; its option --max-txn-ops has to be 7 at least"
      )
    case .refused(.noSpace, _):
      self.init(
        .diskFull,
        "etcd has no space left (its option --quota-backend-bytes); compact and defragment it, and disarm the alarm "
          + "with 'etcdctl alarm disarm'")
    case .refused(.notPermitted, let message), .refused(.invalidToken, let message):
      self.init(.permissionDenied, "etcd does not permit it: \(message)")
    case .refused(_, let message): self.init(.unreachable, "etcd refused: \(message)")
    }
  }
}
