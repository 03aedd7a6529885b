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
