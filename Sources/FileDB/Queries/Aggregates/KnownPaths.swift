import Synchronization

/// Remembers in which fields types store the properties at their key paths. Each is found out once.
enum KnownPaths {
  /// Unchecked because a path may have captured a subscript's argument. It is only compared here, and never changed.
  private struct Path: Hashable, @unchecked Sendable {
    let path: AnyKeyPath
  }

  private static let known = Mutex<[Path: FieldReference?]>([:])

  /// - Returns: `nil` if this cannot be found out.
  static func reference<Value: Decodable, Field: Equatable>(
    of path: KeyPath<Value, Field>
  ) -> FieldReference? {
    let key = Path(path: path)
    if let reference = known.withLock({ $0[key] }) { return reference }
    // Not while holding the lock, because this runs the type's own code.
    let reference = FieldReference(of: path)
    known.withLock { $0[key] = .some(reference) }
    return reference
  }
}
