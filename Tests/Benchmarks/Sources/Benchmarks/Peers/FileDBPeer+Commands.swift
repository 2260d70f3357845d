import FileDB
import Foundation

/// By the command line.
extension FileDBPeer: CommandLinePeer {
  func program() throws -> String {
    guard let filedb = ProcessInfo.processInfo.environment["FILEDB"] else {
      throw LeftOut("$FILEDB names no filedb")
    }
    return filedb
  }

  func command(_ verb: CommandVerb, _ table: CommandTable) throws -> TableCommand {
    let (id, title) = sample.recordToPrint
    let arguments =
      switch verb {
      case .get: ["get", "sample", "\(id)"]
      case .count: ["count", "sample"]
      case .show: ["show", "sample", "--limit", "\(CommandVerb.shownRecords)"]
      case .add: ["add", "sample"] + FileDBPeer.fields(of: table.added)
      case .set: ["set", "sample", "\(table.changedID)", "amount:integer=\(table.amount)"]
      case .move: ["move", "sample", "\(table.moved)", "--bottom"]
      }
    let program = try program()
    return TableCommand(program: program, arguments: ["--store", table.location.path] + arguments) { output in
      func snapshot() throws -> TableSnapshot<Entry> {
        try RecordStore(at: table.location).table(.sample).lastSnapshot
      }
      switch verb {
      case .get: try expect(output.contains(title), "the printed record")
      case .count: try expect(output == "\(table.records)\n", "the printed number of records")
      case .show:
        let lines = output.split(separator: "\n").count
        try expect(lines == CommandVerb.shownRecords + 1, "the number of printed records")
      case .add:
        let rows = try snapshot()
        try expect(rows.count == table.records, "the number of records")
        try expect(try rows.last?.value == table.added, "the added record")
      case .set:
        let changed = try snapshot()[id: RecordID(integerLiteral: Int64(table.changedID))]?.value
        try expect(changed?.amount == table.amount, "the new amount")
      case .move:
        try expect(try snapshot().last?.id.rawValue == Int64(table.moved), "the moved record's place")
      }
    }
  }

  /// The fields of a record as `add` takes them.
  private static func fields(of entry: Entry) -> [String] {
    [
      "title=\(entry.title)", "note=\(entry.note)", "amount:integer=\(entry.amount)",
      "price:float=\(entry.price)",
      "due:date=\(entry.due.formatted(.iso8601))", "isDone:bool=\(entry.isDone)",
    ]
  }

  func importingCSV() throws -> Run {
    let filedb = try program()
    let csv = try sample.csv()
    let types = "amount=integer,price=float,due=date,isDone=bool"
    return { [sample] in
      try sample.importCSV(in: "FileDB-csv") {
        try runProgram(filedb, ["--store", $0.path, "import", csv.path, "sample", "--types", types])
      } check: { folder in
        let table = try RecordStore(at: folder).table(.sample)
        try expect(try table.count == sample.records, "the number of records")
        try expect(try table.lastSnapshot.last?.value == sample.entries.last, "the last record")
      }
    }
  }

  func runningScript() throws -> Run {
    let filedb = try program()
    let entries = sample.scriptEntries
    let lines = entries.map { entry in
      let fields = FileDBPeer.fields(of: entry)
      return "add sample " + fields.map { "'\($0.replacing("'", with: "'\\''"))'" }.joined(separator: " ")
    }
    let script = sample.folder.appendingPathComponent("adds.filedb")
    try ("create sample\n" + lines.joined(separator: "\n")).write(
      to: script, atomically: true, encoding: .utf8)
    return { [sample] in
      try sample.importCSV(in: "FileDB-script") {
        try runProgram(filedb, ["--store", $0.path, "batch", script.path])
      } check: {
        let snapshot = try RecordStore(at: $0).table(.sample).lastSnapshot
        try expect(snapshot.count == entries.count, "the number of records")
        try expect(try snapshot.last?.value == entries.last, "the last record")
      }
    }
  }

  func printingFirstLine() throws -> Run {
    let filedb = try program()
    return { [sample] in
      try seconds(
        of: { try firstLine(of: filedb, ["--store", sample.store.path, "show", "sample"]) },
        check: { try expect($0.contains("title"), "the first line") })
    }
  }

  func exportingCSV() throws -> Run {
    let filedb = try program()
    return { [sample] in
      try sample.exportCSV(in: "FileDB-csv-export") {
        try runProgram(
          filedb, ["--store", sample.store.path, "export", "sample", "--format", "csv"], output: $0)
      }
    }
  }
}
