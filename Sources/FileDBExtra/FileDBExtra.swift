import FileDBCommand

/// The program `filedb-extra`: all that `filedb` can do, and what that program leaves to this one.
@main
enum FileDBExtra {
  static func main() { runFileDB(with: AllExtras()) }
}

/// What `filedb` leaves to this program, each in a file of its own.
struct AllExtras: Extra {}
