import Foundation
import Testing

@Suite("What the core imports")
struct CoreImportsTests {
  @Test("SessionCore imports nothing, not even Foundation")
  func importsNothing() throws {
    let folder = SpecFile.root.appending(path: "Sources/SessionCore")
    let files = try #require(
      FileManager.default.enumerator(atPath: folder.path(percentEncoded: false))
    )
    .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    #expect(files.count > 15)
    for file in files {
      let lines = try SpecFile("Sources/SessionCore/\(file)").lines
      for line in lines where !line.drop(while: \.isWhitespace).hasPrefix("//") {
        let words = line.split { !$0.isLetter && $0 != "@" && $0 != "_" }
        #expect(!words.contains("import") && !words.contains("canImport"), "\(file): \(line)")
      }
    }
  }
}
