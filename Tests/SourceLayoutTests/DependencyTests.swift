import Foundation
import Testing

/// The targets of `Package.swift` and the modules that they depend on.
@Suite("The dependencies of targets")
struct DependencyTests {
  private let tree = SourceTree()

  /// A target as the manifest declares it.
  struct Target: Equatable {
    var kind: String
    var name: String
    var dependencies: [String] = []
    var path: String
  }

  /// The targets in the text of a manifest, in its order.
  static func targets(in manifest: String) -> [Target] {
    let head = /\.(target|executableTarget|testTarget)\(\s*name: "(\w+)"/
    let heads = manifest.matches(of: head)
    let ends = heads.dropFirst().map(\.range.lowerBound) + [manifest.endIndex]
    return zip(heads, ends).map { match, end in
      let rest = manifest[match.range.upperBound..<end]
      let (kind, name) = (String(match.1), String(match.2))
      let folder = kind == "testTarget" ? "Tests" : "Sources"
      let path = rest.firstMatch(of: /path: "([^"]+)"/).map { String($0.1) }
      let list = rest.firstMatch(of: /dependencies: \[([^\]]*)\]/).map { $0.1 } ?? ""
      return Target(
        kind: kind, name: name, dependencies: list.matches(of: /"(\w+)"/).map { String($0.1) },
        path: path ?? "\(folder)/\(name)")
    }
  }

  @Test("each target imports every module that it depends on, except programs that tests run")
  func imported() throws {
    let targets = Self.targets(in: try tree.text(of: "Package.swift"))
    let programs = Set(targets.filter { $0.kind == "executableTarget" }.map(\.name))
    #expect(targets.count > 25 && programs.count >= 4)
    for target in targets where !target.dependencies.isEmpty {
      let files = try tree.swiftFiles(below: target.path)
      let imported = Set(try files.flatMap { try tree.imports(of: $0) })
      let unused = Set(target.dependencies).subtracting(imported)
      let isTest = target.kind == "testTarget"
      let idle = isTest ? unused.subtracting(programs) : unused
      #expect(idle.isEmpty, "\(target.name) does not import \(idle.sorted())")
    }
  }

  @Test("the search for dependencies reads each form of a target")
  func parsed() {
    let manifest = """
      .library(name: "Product", targets: ["One"]),
      .target(name: "CPart"),
      .target(
        name: "One", dependencies: ["CPart"],
        swiftSettings: strict),
      // A comment.
      .executableTarget(
        name: "run",
        dependencies: [
          "One", "CPart",
        ],
        path: "Tools/run"),
      .testTarget(name: "OneTests", dependencies: ["One", "run"]),
      """
    #expect(
      Self.targets(in: manifest) == [
        Target(kind: "target", name: "CPart", path: "Sources/CPart"),
        Target(kind: "target", name: "One", dependencies: ["CPart"], path: "Sources/One"),
        Target(
          kind: "executableTarget", name: "run", dependencies: ["One", "CPart"], path: "Tools/run"),
        Target(
          kind: "testTarget", name: "OneTests", dependencies: ["One", "run"], path: "Tests/OneTests"
        ),
      ])
  }
}

/// Raw values in journals, stored items and output must not follow a renamed case.
@Suite("Raw values")
struct RawValueTests {
  private let tree = SourceTree()

  private static let folders = [
    "Sources/SessionCore", "Sources/SessionChangeQueue", "Sources/SessionJournal",
    "Sources/SessionKit", "Sources/SessionExplain", "Tools/ReplayCommands/Arguments",
    "Tools/ReplayCommands/Commands", "Tools/ReplayCommands/Journal", "Tools/ReplayCommands/Output",
    "Tools/ReplayCommands/Pure/Export", "Tools/ReplayCommands/Words",
  ]

  /// The enums in a source with a case that has a raw value and does not spell it.
  ///
  /// Keys of `Codable` types are left out: `Specs/Frozen/names` has them as members of stored items.
  static func implicit(in source: String) -> [String] {
    let head =
      /^( *)(?:(?:public|package|private|fileprivate) )?enum (\w+): (String|U?Int\d*)\b(.*)/
    var around: (indent: Int, name: String)?
    var found: [String] = []
    for line in source.split(separator: "\n") {
      if let match = line.firstMatch(of: head), !match.4.contains("CodingKey") {
        around = (match.1.count, String(match.2))
      } else if let open = around {
        let text = line.drop { $0 == " " }
        let indent = line.count - text.count
        if indent <= open.indent, text.hasPrefix("}") { around = nil }
        guard indent == open.indent + 2, text.hasPrefix("case "), !text.contains(" = ") else {
          continue
        }
        found.append(open.name)
      }
    }
    return Array(Set(found)).sorted()
  }

  @Test("JRN-3 RPL-5 each case with a raw value spells it", arguments: folders)
  func spelled(folder: String) throws {
    let files = try tree.swiftFiles(below: folder)
    #expect(!files.isEmpty)
    for file in files {
      let found = Self.implicit(in: try tree.text(of: file))
      #expect(found.isEmpty, "\(file): \(found) would change with a case's name")
    }
  }

  @Test("the search for implicit raw values finds them, and only them")
  func search() {
    let source = """
      package enum Spelled: String, CaseIterable {
        case one = "one"
        var isOne: Bool {
          switch self {
          case .one: true
          }
        }
      }
      struct Outer {
        enum Implicit: UInt8 {
          case first = 1
          case second
        }
        enum Keys: String, CodingKey {
          case name
        }
        enum Plain: Error {
          case none
        }
      }
      """
    #expect(Self.implicit(in: source) == ["Implicit"])
  }
}
