import ArgumentParser
import FileDB

struct Count: StoreCommand {
  static let configuration = CommandConfiguration(abstract: "Print the number of records.")

  @OptionGroup var location: StoreLocation
  @ParentCommand var tool: FileDBTool
  @Argument var table: TableReference

  func run() throws { Terminal.print(try existingTable(table).count.description) }
}
