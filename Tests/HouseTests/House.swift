import Foundation

/// The project's tree, as a newcomer finds it.
struct House {
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
    try FileManager.default.subpathsOfDirectory(atPath: root.path + "/" + folder)
      .filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }
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

  /// The object files that the build made of a target.
  func objects(of target: String) throws -> [URL] {
    // The test bundle lies in the build's folder, wherever that is.
    let build = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let folder = build.appending(path: target + ".build")
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".o") }.map { folder.appending(path: $0) }
  }

  private static let accessLevels: Set<Substring> = [
    "public", "package", "internal", "private", "fileprivate",
  ]
}
