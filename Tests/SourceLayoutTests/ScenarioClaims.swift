import Foundation

/// A scenario's file: its app, the requirements that it claims to prove, and its lines.
struct ScenarioClaims {
  /// The file's name without its ending, such as `edu-day`.
  let name: String
  let app: String
  let proves: [String]
  /// Each line's words, without indentation and comments.
  private let lines: [[Substring]]

  init(name: String, text: String) {
    self.name = name
    let lines = text.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      return Array(words.prefix { !$0.hasPrefix("#") })
    }
    func rest(_ word: Substring) -> [Substring] {
      lines.first { $0.first == word }.map { Array($0.dropFirst()) } ?? []
    }
    self.lines = lines
    app = rest("app").first.map(String.init) ?? ""
    proves = rest("proves").map(String.init)
  }

  /// Every scenario of the project, by name.
  static func all(in tree: SourceTree) throws -> [ScenarioClaims] {
    let folder = "Specs/Scenarios"
    return try FileManager.default.contentsOfDirectory(atPath: tree.root.path + "/" + folder)
      .filter { $0.hasSuffix(".scenario") }.sorted()
      .map { file in
        ScenarioClaims(
          name: file.replacing(".scenario", with: ""), text: try tree.text(of: "\(folder)/\(file)")
        )
      }
  }

  /// The part of its name after the app's: `day` of `edu-day`.
  var flow: Substring { name[name.index(after: name.firstIndex(of: "-") ?? name.startIndex)...] }

  /// Whether a line has these words in their order; one that ends in `=` may go on.
  func holds(_ pattern: some StringProtocol) -> Bool {
    let wanted = pattern.split(separator: " ")
    return lines.contains { line in
      var rest = wanted[...]
      for word in line {
        guard let next = rest.first else { break }
        if word == next || (next.hasSuffix("=") && word.hasPrefix(next)) { rest.removeFirst() }
      }
      return rest.isEmpty
    }
  }
}
