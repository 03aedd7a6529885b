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

  @Test("each original occurs exactly once in its file")
  func texts() throws {
    let originals = try originals()
    #expect(originals.count >= 280)
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
