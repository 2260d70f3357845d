import FileDB
import FileDBCluster

extension SharedLog {
  /// A log in etcd 3.4 or later. Nothing is connected yet.
  ///
  ///     let log = try SharedLog.etcd("etcd://m1,m2,m3/app", store: "notes")
  ///
  /// - Parameters:
  ///   - address: the members with their ports, 2379 by default; a prefix for all keys, `filedb` by default; and a
  ///     user, where etcd wants one: `etcd://user:password@m1:2379,m2:2379/prefix`. The password may come from the
  ///     environment instead, in `ETCDCTL_PASSWORD`. There is no TLS. No error repeats the address.
  ///   - store: the store's name under the prefix, which may have many.
  ///   - timeout: how long each of the members may take for an answer, and for being connected.
  /// - Throws: ``StoreError/Code/unreachable`` for a wrong address.
  public static func etcd(
    _ address: String, store: String, timeout: Duration = .seconds(5)
  ) throws -> SharedLog {
    SharedLog(try EtcdLog(address, store: store, timeout: timeout))
  }
}
