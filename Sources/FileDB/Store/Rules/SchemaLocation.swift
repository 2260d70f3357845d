import FileDBPlist
import FileDBTables

/// The location of a part of the schema in the table's file. It is searched for when somebody asks.
final class SchemaLocation: FileLocation {
  private let path: [PlistStep]
  private let source: TableSource

  init(of path: [PlistStep], in source: TableSource) {
    self.path = [.key(TableFile.schemaKey)] + path
    self.source = source
  }

  var found: (file: String, line: Int)? { source.find(path) }
}
