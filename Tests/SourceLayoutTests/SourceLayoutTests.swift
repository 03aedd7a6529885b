import Foundation
import Testing

@Suite("The tree")
struct SourceLayoutTests {
  let tree = SourceTree()

  @Test("the top level holds six names, findings and dot files")
  func topLevel() throws {
    #expect(
      try tree.topLevel() == [
        "Package.swift", "README.md", "Sources", "Specs", "Tests", "Tools", "findings",
      ])
  }

  @Test("the package has no dependency")
  func noDependency() throws {
    let package = try tree.text(of: "Package.swift")
    #expect(!package.contains(".package("))
  }

  @Test(
    "LOG-8 each public error of the library has a text for users or a row with a reason"
  )
  func errors() throws {
    let modules = [
      "SessionCore", "SessionJournal", "SessionKit", "SessionHTTP", "SessionChangeQueue",
      "SessionChanges", "SessionWebSignIn", "SessionMessages", "SessionAccounts",
    ]
    let found = try modules.reduce(into: Set<String>()) {
      $0.formUnion(try tree.publicErrors(below: "Sources/" + $1))
    }
    var told = try Set(
      tree.rows("| what | message | advice |", of: "Errors.md").compactMap { row in
        found.first { row[0] == $0 || row[0].hasPrefix($0 + ":") }
      })
    // It has its own table.
    told.insert("SessionError")
    let untold = try Set(tree.rows("| error | who is told |", of: "Errors.md").map { $0[0] })
    #expect(told.count >= 9 && untold.count >= 5)
    #expect(
      found.subtracting(told).subtracting(untold).sorted() == [], "no text, and no reason why not")
    #expect(untold.subtracting(found).sorted() == [], "there is no such public error")
    #expect(told.intersection(untold).sorted() == [], "a text, and a reason why not")
  }

  @Test("LOG-8 the search for public errors finds each form of a declaration")
  func errorsFound() {
    let source = """
      public enum One: Error {}
      public struct Outer: Sendable {
        public enum Inner: Hashable, Error, Sendable {}
        enum Hidden: Error {}
        public func run() throws(any Error) {}
      }
      extension Outer {
        public final class Late:
          Sendable,
          Error {}
      }
      public struct Errors<Failure: Errorful> {}
      extension Other: UserFacingError {}
      public protocol Refused: Error {}
      """
    #expect(
      SourceTree.publicErrors(in: source).sorted() == ["One", "Other", "Outer.Inner", "Outer.Late"])
  }

  /// The modules that each folder may import.
  ///
  /// The build enforces the dependencies of targets. This list says which of the system's modules a
  /// folder may import.
  static let rooms: [(folder: String, modules: Set<String>)] = [
    ("Sources/SessionCore", []),
    ("Sources/SessionJSON", []),
    ("Sources/SessionExplain", ["SessionCore", "SessionJSON"]),
    (
      "Sources/SessionJournal",
      [
        "CChecksum", "CFileStatus", "CFileLock", "Synchronization", "Dispatch", "Glibc", "Musl",
        "Darwin",
      ]
    ),
    (
      "Sources/SessionKit",
      [
        "SessionCore", "SessionJournal", "SessionJSON", "Synchronization", "Dispatch", "Foundation",
        "FoundationNetworking", "Glibc", "Musl", "Darwin", "Observation",
        "Security", "LocalAuthentication", "UIKit", "AppKit", "WatchKit",
      ]
    ),
    (
      "Sources/SessionHTTP",
      [
        "SessionCore", "SessionJSON", "SessionKit", "Synchronization", "Dispatch", "Foundation",
        "FoundationNetworking",
      ]
    ),
    ("Sources/SessionChangeQueue", ["SessionCore"]),
    (
      "Sources/SessionChanges",
      [
        "SessionCore", "SessionChangeQueue", "SessionJournal", "SessionKit", "Synchronization",
        "Foundation",
      ]
    ),
    (
      "Sources/SessionAccounts",
      ["SessionCore", "SessionJournal", "SessionKit", "Synchronization", "Foundation"]
    ),
    (
      "Sources/SessionWebSignIn",
      [
        "SessionCore", "SessionJSON", "SessionKit", "SessionHTTP", "Synchronization", "Foundation",
        "WebKit", "AuthenticationServices",
      ]
    ),
    (
      "Sources/SessionMessages",
      [
        "SessionCore", "SessionJournal", "SessionKit", "SessionHTTP", "SessionChanges",
        "Foundation",
      ]
    ),
    (
      "Sources/SessionTestKit",
      [
        "SessionCore", "SessionJournal", "SessionJSON", "SessionKit", "SessionHTTP",
        "Synchronization", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl",
        "Testing",
        "Darwin",
      ]
    ),
    (
      "Sources/SessionTestSupport",
      [
        "SessionCore", "SessionJournal", "SessionJSON", "SessionKit", "SessionHTTP",
        "SessionChanges", "SessionWebSignIn", "SessionMessages", "SessionExplain", "SessionTestKit",
        "Synchronization", "Dispatch",
        "Foundation",
      ]
    ),
    (
      "Tools/ReplayCommands",
      [
        "SessionCore", "SessionChangeQueue", "SessionJournal", "SessionExplain", "SessionJSON",
        "Synchronization", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl",
        "Darwin",
      ]
    ),
    (
      "Tools/ReplayCommands/Pure",
      ["SessionCore", "SessionChangeQueue", "SessionExplain", "SessionJSON"]
    ),
    ("Tools/sessionreplay", ["ReplayCommands", "Glibc", "Musl", "Darwin", "Foundation"]),
  ]

  @Test("each folder imports only the modules of its list", arguments: rooms)
  func imports(folder: String, modules: Set<String>) throws {
    let files = try tree.swiftFiles(below: folder)
    #expect(!files.isEmpty)
    for file in files {
      let foreign = Set(try tree.imports(of: file)).subtracting(modules)
      #expect(foreign.isEmpty, "\(file) imports \(foreign.sorted().joined(separator: ", "))")
    }
  }

  @Test("the core does not import Foundation, and the check finds that SessionKit does")
  func linkage() throws {
    func mentions(_ word: String, _ target: String) throws -> Int {
      try tree.objects(of: target).reduce(0) { count, object in
        count + (try Data(contentsOf: object).range(of: Data(word.utf8)) == nil ? 0 : 1)
      }
    }
    #expect(try !tree.objects(of: "SessionCore").isEmpty)
    #expect(try mentions("Foundation", "SessionCore") == 0)
    #expect(try mentions("Foundation", "SessionJournal") == 0)
    for target in ["SessionChangeQueue", "SessionJSON", "SessionExplain"] {
      #expect(try !tree.objects(of: target).isEmpty)
      #expect(try mentions("Foundation", target) == 0)
    }
    #expect(try mentions("Foundation", "SessionKit") > 0)
  }

  @Test("no file has more than 450 lines, and no source has a forbidden construct")
  func files() throws {
    let forbidden = [
      "@unchecked " + "Sendable", "nonisolated(" + "unsafe)", "try" + "!", "fatal" + "Error(",
      " try" + "? ", "(try" + "? ",
    ]
    for folder in ["Sources", "Tools", "Tests"] {
      for file in try tree.swiftFiles(below: folder) {
        let text = try tree.text(of: file)
        #expect(
          text.split(separator: "\n", omittingEmptySubsequences: false).count <= 450, "\(file)")
        guard folder != "Tests" else { continue }
        for word in forbidden {
          #expect(!text.contains(word), "\(file) has \(word)")
        }
      }
    }
  }

  @Test("JRN-1 each descriptor of the library and of the tool goes through one file")
  func descriptors() throws {
    let opening = /\b(open\([^)]*\bO_|mkstemp\(|inotify_init1\(|opendir\()/
    for folder in ["Sources", "Tools/ReplayCommands"] {
      for file in try tree.swiftFiles(below: folder) where !file.hasSuffix("/Descriptors.swift") {
        for line in try tree.text(of: file).split(separator: "\n") where line.contains(opening) {
          let isMoved = line.contains("aboveStandardStreams(") || line.contains("fdopendir(number)")
          #expect(isMoved, "\(file): \(line)")
        }
      }
    }
  }

  @Test(
    "README and the articles show the examples that tests compile and run",
    arguments: [
      ("SessionKitTests/ReadmeExample", "README.md", "README"),
      ("SessionKitTests/CallsExample", "\(articles)/CallsWithTokens.md", "PAGE"),
      ("SessionKitTests/ScreenExample", "\(articles)/ObserveASession.md", "PAGE"),
      ("SessionKitTests/IdentityExample", "\(articles)/WaysToLogIn.md", "PAGE"),
      ("SessionKitTests/ChangesExample", "\(articles)/OfflineChanges.md", "PAGE"),
      ("SessionKitTests/TestExample", "\(articles)/TestingYourApp.md", "PAGE"),
      (
        "SessionJournalTests/JournalExample",
        "Sources/SessionJournal/SessionJournal.docc/SessionJournal.md", "PAGE"
      ),
    ])
  func example(name: String, page: String, mark: String) throws {
    #expect(try tree.text(of: page).contains(try block(name, mark)))
  }

  private static let articles = "Sources/SessionKit/SessionKit.docc"

  @Test("each file XTests.swift declares XTests")
  func suiteNames() throws {
    let files = try tree.swiftFiles(below: "Tests").filter { $0.hasSuffix("Tests.swift") }
    #expect(files.count > 200)
    for file in files {
      let name = (file as NSString).lastPathComponent.dropLast(".swift".count)
      let types = try tree.tests(of: file).map(\.type)
      #expect(types.contains(String(name)), "\(file) declares \(types)")
    }
  }

  @Test("CI's list of whole sweeps names exactly the suites that a daily run samples")
  func sweeps() throws {
    let files = try tree.swiftFiles(below: "Tests")
    // Suites that read the environment. Others choose their share themselves.
    let swept = try files.filter {
      let text = try tree.text(of: $0)
      return text.contains("takingOneOf: ") && text.contains(/takingOneOf: \d+\)/)
    }
    for file in swept {
      let name = (file as NSString).lastPathComponent.dropLast(".swift".count)
      let text = try tree.text(of: file)
      #expect(text.contains("struct \(name) {") && text.contains("@Test"), "\(file) is no suite")
    }
    let suites = swept.map { file in
      let parts = file.dropLast(".swift".count).split(separator: "/")
      return "\(parts[1]).\(parts[parts.count - 1])"
    }
    let lines = try tree.text(of: ".ci/sweeps").split(separator: "\n")
    let listed = lines.filter { !$0.hasPrefix("#") }.map(String.init)
    #expect(listed == suites.sorted())
    #expect(listed.count > 10)
  }

  /// The lines between two marks in a test, as a block of a page; empty lines separate its parts.
  private func block(_ name: String, _ mark: String) throws -> String {
    let source = try tree.text(of: "Tests/\(name).swift")
    var lines = source.split(separator: "\n", omittingEmptySubsequences: false)[...]
    var parts: [String] = []
    while let start = lines.firstIndex(where: { $0.contains("\(mark) begins") }) {
      let end = try #require(lines[start...].firstIndex { $0.contains("\(mark) ends") })
      let body = lines[(start + 1)..<end]
      let indent = body.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
      parts.append(body.map { $0.dropFirst(indent) }.joined(separator: "\n"))
      lines = lines[(end + 1)...]
    }
    try #require(!parts.isEmpty, "no lines are marked in \(name)")
    return "```swift\n\(parts.joined(separator: "\n\n"))\n```"
  }

  @Test("each file that a page links to exists")
  func links() throws {
    let pages =
      ["README.md"]
      + (try FileManager.default.subpathsOfDirectory(atPath: tree.root.path + "/Specs"))
      .filter { $0.hasSuffix(".md") }.map { "Specs/" + $0 }
    var count = 0
    for page in pages {
      let folder = tree.root.appending(path: page).deletingLastPathComponent()
      for match in try tree.text(of: page).matches(of: /\]\(([^)#]+)(#[^)]*)?\)/) {
        let target = String(match.1)
        guard !target.contains("://") else { continue }
        count += 1
        #expect(
          FileManager.default.fileExists(atPath: folder.path + "/" + target),
          "\(page) links to \(target)")
      }
    }
    #expect(count > 5)
  }
}
