import FileDBPlist
import FileDBTables

/// Where a table's file has a part of its schema. It is looked for when somebody asks.
final class SchemaPlace: RecordPlace {
  private let path: [PlistStep]
  private let source: TableSource

  init(of path: [PlistStep], in source: TableSource) {
    self.path = [.key(TableFile.schemaKey)] + path
    self.source = source
  }

  var found: (file: String, line: Int)? { source.find(path) }
}
