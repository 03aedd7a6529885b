import Foundation
import Testing

/// Specs/PropertyTesting.md, and the code of this folder that the page shows.
struct Page {
  let text: String
  /// The article that has the example of a property, its report and a simulated world.
  let article: String
  /// The lines between `shown: begins` and `shown: ends` in the folder's files, and in the file of
  /// the examples that need access to this package's internals.
  let shown: Set<String>

  init() throws {
    var root = URL(filePath: #filePath).deletingLastPathComponent()
    let folder = root
    while root.path.count > 1,
      !FileManager.default.fileExists(atPath: root.path + "/Package.swift")
    {
      root.deleteLastPathComponent()
    }
    text = try String(contentsOf: root.appending(path: "Specs/PropertyTesting.md"), encoding: .utf8)
    article = try String(
      contentsOf: root.appending(path: "Sources/SessionKit/SessionKit.docc/TestingYourApp.md"),
      encoding: .utf8)
    var shown: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let source = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      shown.formUnion(Self.shown(in: source))
    }
    let runs = folder.deletingLastPathComponent()
      .appending(path: "SessionPropertyTests/PageRunExample.swift")
    shown.formUnion(Self.shown(in: try String(contentsOf: runs, encoding: .utf8)))
    self.shown = shown
  }

  private static func shown(in source: String) -> [String] {
    var (blocks, block, indent) = ([String](), [Substring]?.none, 0)
    for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if text == "// shown: begins" {
        (block, indent) = ([], line.count - text.count)
      } else if text == "// shown: ends", let lines = block {
        blocks.append(lines.joined(separator: "\n"))
        block = nil
      } else {
        block?.append(line.dropFirst(indent))
      }
    }
    return blocks
  }

  /// The page's blocks of Swift, without their imports.
  var blocks: [String] {
    text.components(separatedBy: "```swift\n").dropFirst().map { part in
      let lines = (part.components(separatedBy: "\n```").first ?? part)
        .split(separator: "\n", omittingEmptySubsequences: false)
        .drop { $0.isEmpty || $0.hasPrefix("import ") }
      return lines.joined(separator: "\n")
    }
  }
}

@Suite("TST-1 TST-2: the specification's code")
struct PageTests {
  @Test("TST-1: every block of code on the page compiles here with the imports of a reader")
  func code() throws {
    let page = try Page()
    #expect(page.blocks.count == 3)
    for block in page.blocks { #expect(page.shown.contains(block), "\(block)") }
  }

  @Test("TST-1: the files of this folder import only what a reader can")
  func imports() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let source = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      #expect(!source.contains("@" + "testable") && !source.contains("package" + " import"))
      #expect(!source.contains("@" + "_spi"))
    }
    let package = folder.deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Package.swift")
    let manifest = try String(contentsOf: package, encoding: .utf8)
    let target = try #require(manifest.firstRange(of: "name: \"PropertyPageTests\""))
    let end = manifest[target.upperBound...].firstRange(of: ".testTarget")
    let declaration = manifest[target.upperBound..<(end?.lowerBound ?? manifest.endIndex)]
    #expect(declaration.contains("packageAccess: false"))
  }
}
