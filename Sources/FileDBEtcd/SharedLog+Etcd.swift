import FileDB
import FileDBCluster

extension SharedLog {
  /// A log in etcd 3.4 or later. This does not connect yet.
  ///
  ///     let log = try SharedLog.etcd("etcd://m1,m2,m3/app", store: "notes")
  ///
  /// - Parameters:
  ///   - address: the members of the cluster, and a prefix for all keys, such as
  ///     `etcd://user:password@m1:2379,m2:2379/prefix`. The port is 2379 by default, and the prefix `filedb`. Name a
  ///     user if etcd has authentication turned on. The password may also be in the environment, in
  ///     `ETCDCTL_PASSWORD`. TLS is not supported. No error repeats the address.
  ///   - store: the name of the store. A prefix may have many stores.
  ///   - timeout: how long to wait for a connection to a member, and how long for each of its answers.
  /// - Throws: ``StoreError/Code/unreachable`` for a wrong address.
  public static func etcd(
    _ address: String, store: String, timeout: Duration = .seconds(5)
  ) throws -> SharedLog {
    SharedLog(try EtcdLog(address, store: store, timeout: timeout))
  }
}
