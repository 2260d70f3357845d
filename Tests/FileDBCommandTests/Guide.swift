import Foundation
import TestSupport
import Testing

/// An article with terminal sessions, and what its reader has before the first line.
struct Guide: CustomTestStringConvertible {
  static let folder = packageRoot.appendingPathComponent("Sources/FileDB/FileDB.docc")

  struct Step {
    var command: String
    var output: String
  }

  let name: String
  /// Programs that the session needs beside `filedb`.
  var programs: [String] = []
  /// A shell script that makes what the reader has.
  var setup = ""

  var testDescription: String { name }

  var missingProgram: String? {
    programs.first { (try? shell("command -v \($0)", in: packageRoot).status) != 0 }
  }

  /// The lines after `$`, each with what is shown below it.
  func steps() throws -> [Step] {
    let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
    var steps: [Step] = []
    for block in text.matches(of: /```console\n((?s).*?)```/) {
      for line in block.1.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
        if line.hasPrefix("$ ") {
          steps.append(Step(command: String(line.dropFirst(2)), output: ""))
        } else if let last = steps.last, last.output == "", last.command.hasSuffix("\\") {
          steps[steps.count - 1].command += "\n\(line)"
        } else {
          steps[steps.count - 1].output += "\(line)\n"
        }
      }
    }
    return steps
  }

  /// - Returns: what the command prints, messages included.
  func run(_ command: String, in place: URL, home: URL? = nil) throws -> String {
    let git = """
      export HOME='\((home ?? place).path)' GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_COUNT=1
      export GIT_CONFIG_KEY_0=init.defaultBranch GIT_CONFIG_VALUE_0=main
      export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com
      export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com

      """
    return try shell("\(git)exec 2>&1\n\(command)", in: place).output
  }

  static let all = [
    Guide(name: "FirstCommands.md"), Guide(name: "Schemas.md"),
    Guide(name: "Guides/FromJSON.md", programs: ["jq"]),
    Guide(name: "Guides/FromSQLite.md", programs: ["sqlite3"], setup: appDatabase),
    Guide(name: "Guides/FromCodableFiles.md"),
    Guide(name: "Guides/FromCoreData.md", programs: ["sqlite3", "jq"], setup: coreDataStore),
    Guide(name: "Guides/FromWgFileDb.md", setup: oldTable),
    Guide(name: "Cookbook/ChangeTypes.md"),
    Guide(name: "Cookbook/SeveralProcesses.md"),
    Guide(name: "Cookbook/ShipAndUpgrade.md"),
    Guide(name: "Cookbook/SyncByGit.md", programs: ["git"]),
    Guide(name: "Cookbook/SyncedFolders.md", setup: conflictCopy),
  ]

  /// Two machines have changed a table since both had the same file.
  private static let conflictCopy = """
    printf 'title,done\\nBuy milk,no\\nPay the rent,no\\n' | filedb import - todo 2>/dev/null
    cp todo.plist before
    filedb set todo 1 done=yes && filedb add todo title='Buy bread' >/dev/null && filedb checkpoint
    mv todo.plist todo.sync-conflict-20261101-120000-ABCDEFG.plist && mv before todo.plist
    filedb add todo title='Call Ann' >/dev/null && filedb checkpoint
    """

  private static let appDatabase = """
    sqlite3 app.db "CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE note(
      id INTEGER PRIMARY KEY, title TEXT NOT NULL, done BOOLEAN NOT NULL DEFAULT 0,
      folder_id INTEGER REFERENCES folder(id), position INTEGER, created_at TEXT);
    INSERT INTO folder VALUES (1, 'Home'), (2, 'Work');
    INSERT INTO note VALUES (3, 'Buy milk', 0, 1, 2, '2026-11-02 08:30:00'),
      (5, 'Write the report', 1, 2, 0, '2026-11-03 10:00:00'), (8, 'Pay the rent', 0, 1, 1, NULL);"
    """

  /// Tables as Core Data makes them.
  private static let coreDataStore = """
    sqlite3 App.sqlite "CREATE TABLE ZFOLDER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
    CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDONE INTEGER, ZFOLDER INTEGER,
      Z_FOK_FOLDER INTEGER, ZCREATED TIMESTAMP, ZTITLE VARCHAR);
    CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
    CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
    INSERT INTO ZFOLDER VALUES (1, 1, 1, 'Home'), (2, 1, 1, 'Work');
    INSERT INTO ZNOTE VALUES (1, 2, 3, 0, 1, 2048, 815654400, 'Buy milk'),
      (2, 2, 1, 1, 2, 1024, 815740800.5, 'Write the report'), (3, 2, 1, 0, 1, 1024, NULL, 'Pay the rent');"
    """

  /// A table as wgFileDb wrote it.
  private static let oldTable = """
    mkdir wgFileDb && cat >wgFileDb/todo <<'END'
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
        <key>autoincrement</key>
        <string>2</string>
        <key>data</key>
        <array>
            <dict>
                <key>title</key>
                <string>Buy milk</string>
                <key>wgFileDbSecretId</key>
                <string>1</string>
            </dict>
            <dict>
                <key>note</key>
                <string>by the 3rd</string>
                <key>title</key>
                <string>Pay the rent</string>
                <key>wgFileDbSecretId</key>
                <string>2</string>
            </dict>
        </array>
        <key>index</key>
        <dict>
            <key>1</key>
            <string>0</string>
            <key>2</key>
            <string>1</string>
        </dict>
    </dict>
    </plist>
    END
    """
}
