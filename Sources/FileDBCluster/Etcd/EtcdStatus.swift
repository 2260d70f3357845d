import FileDB
import FileDBEssentials
import FileDBTables

extension EtcdLog {
  package func status() throws(StoreError) -> SharedStatus {
    let (state, counts) = try recordCounts()
    let endpoint = client.endpoint
    let (bytes, committed) = try commitBytes(state)
    let (member, members) = try explaining { () throws(EtcdFailure) in
      let member: EtcdMemberStatus = try client.ask("/v3/maintenance/status", EtcdNothing())
      let members: EtcdMembers = try client.ask("/v3/cluster/member/list", EtcdNothing())
      return (member, members.members)
    }
    let leader = members.first { $0.ID == member.leader }.map { $0.name ?? $0.ID }
    return SharedStatus(
      server: "etcd \(member.version) at \(endpoint)",
      servers: .members(count: Int64(members.count), leader: leader),
      head: state.head.sequence, start: state.start.sequence, committed: committed,
      commitBytes: bytes,
      tables: Int64(counts.count), records: Int64(counts.values.reduce(0, +)),
      databaseBytes: member.dbSize.value)
  }

  /// The number of records of each table.
  private func recordCounts() throws(StoreError) -> (EtcdState, [TableKey: Int]) {
    while true {
      let base = try base()
      var counts = base.tables.filter { $0.file != nil }.reduce(into: [TableKey: Int]()) {
        $0[$1.key] = $1.count
      }
      let isComplete = try forEachCommit(after: base.state.base.sequence) { commit in
        for change in commit.changes { change.count(in: &counts) }
      }
      if isComplete { return (base.state, counts) }
    }
  }

  /// The total size of all commits that are kept, and when the last one was made.
  private func commitBytes(_ state: EtcdState) throws(StoreError) -> (bytes: Int64, last: Date?) {
    var (bytes, last, date): (Int64, UInt64, Date?) = (0, state.start.sequence, nil)
    while last < state.head.sequence,
      case let commits = try read(after: FollowedCommit(sequence: last)).commits,
      let end = commits.last
    {
      bytes += commits.reduce(0) { $0 + Int64($1.byteCount) }
      (last, date) = (end.sequence, end.date)
    }
    return (bytes, date)
  }
}

extension LoggedChange {
  /// Updates the number of records of each table.
  fileprivate func count(in counts: inout [TableKey: Int]) {
    switch change {
    case .create: counts[table] = 0
    case .drop: counts[table] = nil
    case .insert(let records, _): counts[table, default: 0] += records.count
    case .remove(let ids): counts[table, default: 0] -= ids.count
    case .removeAll, .truncate: counts[table] = 0
    case .replace, .move, .reorder, .raiseCounter, .declare: break
    }
  }
}
