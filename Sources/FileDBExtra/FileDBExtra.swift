import FileDBCommand

/// The program `filedb-extra`. It does everything that `filedb` does, and what `filedb` leaves to it.
@main
enum FileDBExtra {
  static func main() { runFileDB(with: AllExtras()) }
}

/// What `filedb` leaves to this program. Each ability has its own file.
struct AllExtras: Extra {}
