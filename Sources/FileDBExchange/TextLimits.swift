import FileDB
import FileDBPlist

/// What one record of a text can cost before it is read to its end. The defaults are more than a table can hold of it.
package struct TextLimits: Sendable {
  /// The most bytes of one record.
  package var recordBytes = 2 * PlistLimits().valueBytes
  /// The most fields of one row of delimited text.
  package var fields = 1 << 20
  /// The most bytes of a whole property list.
  package var fileBytes = PlistLimits().fileBytes

  package init() {}
}
