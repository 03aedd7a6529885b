import Foundation
import Testing

/// Whether each seeded bug still fits the code: it quotes source text.
@Suite("Tools/mutants/mutants.txt")
struct MutantTextTests {
  private let tree = SourceTree()

  /// One text that a seeded bug replaces, and its file.
  private struct Original {
    var mutant: String
    var file: String
    var text = ""
  }

  private func originals() throws -> [Original] {
    var found: [Original] = []
    var (mutant, file) = ("", "")
    var isOriginal = false
    let lines = try tree.text(of: "Tools/mutants/mutants.txt")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for line in lines where !line.hasPrefix("# ") && line != "#" {
      if line.hasPrefix("mutant: ") {
        (mutant, isOriginal) = (String(line.dropFirst("mutant: ".count)), false)
      } else if line.hasPrefix("file: "), !isOriginal {
        file = String(line.dropFirst("file: ".count))
      } else if line.hasPrefix("--- original") {
        let other = line.dropFirst("--- original in ".count)
        found.append(Original(mutant: mutant, file: other.isEmpty ? file : String(other)))
        isOriginal = true
      } else if line == "--- mutated" {
        isOriginal = false
      } else if isOriginal {
        found[found.count - 1].text += line + "\n"
      }
    }
    return found
  }

  @Test("each alternative of a pattern of tests finds a test")
  func patterns() throws {
    let names = try tree.swiftFiles(below: "Tests").flatMap { file in
      let module = file.split(separator: "/")[1]
      return try tree.tests(of: file).flatMap { type, functions in
        functions.map { "\(module).\(type)/\($0)" }
      }
    }
    let patterns = try tree.text(of: "Tools/mutants/mutants.txt").split(separator: "\n")
      .filter { $0.hasPrefix("tests: ") }.map { $0.dropFirst("tests: ".count) }
    #expect(names.count > 1_000 && patterns.count > 100)
    // It searches a long text faster than `Regex` does.
    let text = names.joined(separator: "\n")
    for pattern in Set(patterns) {
      for alternative in Self.alternatives(of: pattern) {
        let expression = try NSRegularExpression(
          pattern: alternative, options: .anchorsMatchLines)
        let match = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text))
        #expect(match != nil, "\(pattern): \(alternative)")
      }
    }
  }

  @Test("alternatives are separated by bars, also in one group")
  func alternatives() {
    #expect(Self.alternatives(of: "A|B/c") == ["A", "B/c"])
    #expect(Self.alternatives(of: "M.(A|B)Tests") == ["M.ATests", "M.BTests"])
  }

  /// The alternatives of a pattern, which has at most one group.
  private static func alternatives(of pattern: Substring) -> [String] {
    guard let match = pattern.wholeMatch(of: /([^(]*)\(([^)]*)\)(.*)/) else {
      return pattern.split(separator: "|").map(String.init)
    }
    return match.2.split(separator: "|").map { String(match.1 + $0 + match.3) }
  }

  @Test("each original occurs exactly once in its file")
  func texts() throws {
    let originals = try originals()
    #expect(originals.count >= 150)
    var files: [String: String] = [:]
    for original in originals {
      let text = try files[original.file] ?? tree.text(of: original.file)
      files[original.file] = text
      let wanted = original.text.trimmingCharacters(in: .newlines)
      #expect(!wanted.isEmpty, "\(original.mutant)")
      let count = text.components(separatedBy: wanted).count - 1
      #expect(count == 1, "\(original.mutant): \(count) times in \(original.file)")
    }
  }
}
