import FileDBStorage
import Testing

@Suite struct PathTests {
  @Test func pathSplitsIntoParentFolderAndFileName() {
    #expect(parentFolder(of: "/a/b") == "/a")
    #expect(parentFolder(of: "/a") == "/")
    #expect(parentFolder(of: "/") == "/")
    #expect(fileName(of: "/a/b") == "b")
    #expect(fileName(of: "/a") == "a")
  }
}
