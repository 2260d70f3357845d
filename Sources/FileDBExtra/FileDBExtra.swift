import FileDBCommand

/// The program `filedb-extra`: all that `filedb` can do, and what that program leaves to this one.
@main
enum FileDBExtra {
  static func main() { runFileDB(with: SQLiteExchange()) }
}
