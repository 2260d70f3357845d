import FileDBCommand

@main
enum FileDBProgram {
  static func main() { runFileDB(with: nil) }
}
