import FileDBPlist
import FileDBTables
import Foundation
import TestSupport
import Testing

@testable import FileDB

/// The conflicts of a merge that are kept until they are settled.
@Suite struct OpenConflictsTests {
  /// Dictionaries inside each other.
  private func nested(_ depth: Int) -> PlistValue {
    (0..<depth).reduce(.string("text")) { value, _ in .dict(["a": value]) }
  }

  /// A record may be as deep as a table's limits let it be, and its conflict is a level deeper.
  @Test(arguments: [12, PlistLimits().depth, PlistLimits().depth + 100])
  func conflictsOfTheDeepestRecordsAreReadAgain(depth: Int) throws {
    try withTemporaryFolder { folder in
      let options = StoreOptions(limits: PlistLimits(depth: depth))
      let store = try RecordStore(at: folder, options: options)
      let table = try store.table("t")
      // In a table, fields are inside the root, its array and the record.
      let fields: Fields = ["n": nested(depth - 3)]
      #expect(storeError { try table.add(["n": nested(depth - 2)]) }?.code == .unrepresentableValue)
      let id = AnyRecordID(try table.add(fields))
      let kinds: [MergeConflict.Kind] = [
        .field("n", base: fields["n"], ours: fields["n"], theirs: fields["n"]),
        .deletedByOurs(base: fields, theirs: fields), .deletedByTheirs(base: fields, ours: fields),
      ]
      for kind in kinds {
        let conflict = MergeConflict(record: id, kind: kind)
        try store.keep(OpenConflicts(gitVersions: nil, conflicts: [conflict]), of: "t")
        let kept = try RecordStore(at: folder, options: options).openConflicts(of: "t")
        #expect(kept.map { "\($0.conflicts)" } == "\([conflict])")
      }
      try store.checkInvariants()
    }
  }

  /// They are not taken for settled.
  @Test(arguments: [
    "", "no property list", "<plist><array/></plist>",
    "<plist><dict><key>conflicts</key><array><dict/></array></dict></plist>",
    """
    <plist><dict><key>conflicts</key><array><dict><key>kind</key><string>field</string><key>field</key><string>n</string>
    </dict><dict><key>kind</key><string>of a later version</string></dict></array></dict></plist>
    """,
  ])
  func conflictsThatCannotBeReadAreAnError(text: String) throws {
    try withTemporaryFolder { folder in
      let store = try RecordStore(at: folder)
      try store.table("t").add(["n": 1])
      let conflict = MergeConflict(
        record: AnyRecordID(counted: 1), kind: .field("n", base: nil, ours: 1, theirs: 2))
      try store.keep(OpenConflicts(gitVersions: nil, conflicts: [conflict]), of: "t")
      let file = folder.appendingPathComponent(".filedb/conflicts/t.plist")
      try Data(text.utf8).write(to: file)
      let error = storeError { _ = try store.openConflicts(of: "t") }
      #expect(error?.code == .damagedTable && error?.file?.hasSuffix("conflicts/t.plist") == true)
      try FileManager.default.removeItem(at: file)
      #expect(try store.openConflicts(of: "t") == nil)
      try store.checkInvariants()
    }
  }
}
