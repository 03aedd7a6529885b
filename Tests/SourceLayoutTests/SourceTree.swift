import Foundation

/// The project's files.
struct SourceTree {
  let root: URL

  init() {
    var url = URL(filePath: #filePath)
    while url.path.count > 1, !FileManager.default.fileExists(atPath: url.path + "/Package.swift") {
      url.deleteLastPathComponent()
    }
    root = url
  }

  /// The names at the top level that are not dot files.
  func topLevel() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.path)
      .filter { !$0.hasPrefix(".") }.sorted()
  }

  /// Every Swift file below a folder, by its path from the root.
  func swiftFiles(below folder: String) throws -> [String] {
    try files(below: folder, suffix: ".swift")
  }

  /// Every file below a folder whose name has this ending, by its path from the root.
  func files(below folder: String, suffix: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.path + "/" + folder)
      .filter { $0.hasSuffix(suffix) && !$0.contains(".build/") }
      .map { folder + "/" + $0 }
  }

  func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The modules that a file imports.
  func imports(of path: String) throws -> [String] {
    try text(of: path).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard let index = words.firstIndex(of: "import"), index + 1 < words.count,
        words[..<index].allSatisfy({ $0.hasPrefix("@") || Self.accessLevels.contains($0) })
      else { return nil }
      return String(words[words.count - 1])
    }
  }

  /// The public types below a folder that are errors, by name, such as `TokenClaims.Problem`.
  func publicErrors(below folder: String) throws -> Set<String> {
    try swiftFiles(below: folder).reduce(into: []) { names, path in
      names.formUnion(SourceTree.publicErrors(in: try text(of: path)))
    }
  }

  /// The public types of a source that it declares to be errors, or extends to be.
  ///
  /// A type that only this repository's packages see (`@_spi`) is not public, and neither are types inside it.
  static func publicErrors(in source: String) -> Set<String> {
    let declaration =
      /^( *)(@_spi\(\w+\) )?(?:(public) )?(?:final |indirect )*(enum|struct|class|actor|extension) ([\w.]+)(.*)/
    let error = /[:,&] *(?:any )?(?:Error|LocalizedError|CustomNSError|UserFacingError)\b/
    var around: [(indent: Int, name: String, isSPI: Bool)] = []
    var found: Set<String> = []
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      guard let match = line.firstMatch(of: declaration) else { continue }
      let indent = match.1.count
      around.removeAll { $0.indent >= indent }
      let name = (around.map(\.name) + [String(match.5)]).joined(separator: ".")
      around.append((indent, String(match.5), match.2 != nil))
      guard !around.contains(where: \.isSPI) else { continue }
      // The head of a long declaration ends with its brace.
      let head = lines[index...].prefix(6).joined(separator: " ").prefix { $0 != "{" }
      guard head.contains(error), match.3 != nil || match.4 == "extension" else { continue }
      found.insert(name)
    }
    return found
  }

  /// The rows of the table with this header on a page of `Specs`.
  func rows(_ head: String, of page: String) throws -> [[String]] {
    let lines = try text(of: "Specs/" + page).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0 == head }) else { return [] }
    return lines[start...].dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  /// The types of a source at the top level, and the names of each type's functions.
  func tests(of path: String) throws -> [(type: String, functions: [String])] {
    let type =
      /(?:@Suite(?:\(.*\))? )?(?:private |final )*(?:struct|class|enum|actor|extension) (\w+)/
    // A suite of one system is inside of a condition.
    let conditional = /\s\s(?:final )*(?:struct|class) (\w+Tests)/
    let function = /\s+(?:@Test(?:\(.*\))? )?(?:private |static |mutating )*func (\w+)/
    var found: [(type: String, functions: [String])] = []
    for line in try text(of: path).split(separator: "\n") {
      // To look at the first characters or for a word is faster than an expression.
      if !line.hasPrefix("   "),
        let match = line.prefixMatch(of: type) ?? line.prefixMatch(of: conditional)
      {
        found.append((String(match.1), []))
      }
      guard !found.isEmpty, line.contains("func "), let match = line.prefixMatch(of: function)
      else { continue }
      found[found.count - 1].functions.append(String(match.1))
    }
    return found
  }

  /// The object files of a target.
  func objects(of target: String) throws -> [URL] {
    // The test bundle is in the build's folder.
    let build = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let folder = build.appending(path: target + ".build")
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".o") }.map { folder.appending(path: $0) }
  }

  private static let accessLevels: Set<Substring> = [
    "public", "package", "internal", "private", "fileprivate",
  ]
}
