import FileDB

/// Why a request to etcd failed.
enum EtcdFailure: Error {
  /// No endpoint accepted the request. Nothing has changed.
  case unreachable(String)
  /// The request was sent, but no answer came. Nobody knows whether etcd has carried it out.
  case lost(String)
  /// etcd refused the request. Nothing has changed, unless the reason is ``Refusal/noSpace``: etcd may carry out a
  /// transaction, notice that it is full now, and answer with this error.
  case refused(Refusal, String)

  enum Refusal: Equatable {
    case requestTooLarge, tooManyOperations, noSpace, compacted, notPermitted, invalidToken, other
  }

  /// - Parameters:
  ///   - code: the gRPC status code.
  ///   - message: etcd's message.
  init(code: Int, message: String) {
    switch code {
    case _
    where message.contains("request is too large")
      || message.contains("received message larger than max"):
      // The first message is etcd's own. The second comes from the gRPC layer in front of it.
      self = .refused(.requestTooLarge, message)
    case _ where message.contains("too many operations"):
      self = .refused(.tooManyOperations, message)
    case _ where message.contains("database space exceeded"): self = .refused(.noSpace, message)
    case _ where message.contains("has been compacted"): self = .refused(.compacted, message)
    case _
    where message.contains("invalid auth token") || message.contains("auth store is old"):
      self = .refused(.invalidToken, message)
    // 7: permission denied. 16: unauthenticated. 3 with these words: a missing or a wrong user.
    case 7, 16: self = .refused(.notPermitted, message)
    case 3 where message.contains("auth") || message.contains("user"):
      self = .refused(.notPermitted, message)
    // Invalid argument, not found, resource exhausted, failed precondition, out of range, unimplemented.
    case 3, 5, 8, 9, 11, 12: self = .refused(.other, message)
    // A timeout or a change of leader. The members may still carry it out.
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
        "etcd does not accept a request of this size; its option --max-request-bytes must be at least 1572864, "
          + "which is the default"
      )
    case .refused(.tooManyOperations, _):
      self.init(
        .unrepresentableValue,
        "etcd accepts too few operations in a transaction for FileDB; its option --max-txn-ops must be at least 7"
      )
    case .refused(.noSpace, _):
      self.init(
        .diskFull,
        "etcd has no space left; start it with a larger --quota-backend-bytes, and end the alarm with 'etcdctl alarm "
          + "disarm'. Then 'filedb shared compact' makes room")
    case .refused(.notPermitted, let message), .refused(.invalidToken, let message):
      self.init(.permissionDenied, "etcd denies access: \(message)")
    case .refused(_, let message): self.init(.unreachable, "etcd refused: \(message)")
    }
  }
}
