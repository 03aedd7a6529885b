import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("Specs/Why.md")
struct WhyPageTests {
  private func rows(under heading: String) throws -> [[String]] {
    try SpecPage("Specs/Why.md").rows(under: heading)
  }

  @Test("RPL-3 the page and the code have the same catalogue of causes")
  func catalogue() throws {
    let page = try rows(under: "Catalogue").map { [$0[0], $0[1], $0[3]] }
    let code = Cause.all.map { [$0.id, $0.class.rawValue, $0.headline] }
    #expect(Set(page) == Set(code))
    #expect(page.count == code.count)
  }

  // The texts are in the sources, and most are in recorded answers. A digest of each list shows a
  // change that was not intended, also of a text that no recorded answer has.
  @Test("RPL-3 findings, gaps, advice and summaries have the texts of Specs/Golden/texts.txt")
  func texts() throws {
    var lists = [
      "findings": FindingWord.allCases.map { [$0.rawValue, $0.topic ?? "", $0.sentence] },
      "gaps": UntoldWord.allCases.map { [$0.rawValue, $0.sentence] },
      "advice": AdviceWord.allCases.map { [$0.rawValue, $0.sentence] },
    ]
    for language in SessionLanguage.allCases {
      lists["summaries in \(language)"] = (Cause.all + Cause.reworded).map { cause in
        let plain = cause.plain(in: language)
        return [cause.id, cause.experience.text(in: language), plain.story, plain.fix]
      }
    }
    let lines = lists.sorted { $0.key < $1.key }.map { name, rows in
      let text = rows.map { $0.joined(separator: "|") }.sorted().joined(separator: "\n")
      let digest = SipHash.digest(of: Array(text.utf8), low: 0, high: 0)
      return "\(name): \(rows.count) texts, \(Data(digest).base64EncodedString())\n"
    }
    let path = "Specs/Golden/texts.txt"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      let file = Repository.root.appending(path: path)
      try lines.joined().write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try Repository.text(path) == lines.joined())
  }

  @Test("RPL-3 the page has the three degrees of certainty")
  func degrees() throws {
    #expect(try rows(under: "How surely").map { $0[0] } == ["proven", "likely", "possible"])
    #expect(Set(Certainty.allCases.map(\.rawValue)) == ["proven", "likely", "possible"])
  }

  @Test("RPL-3 the page and the code have the same codes")
  func codes() throws {
    let code = RefusalWord.codes.map { row in
      [row.says, row.codes.map { "`\($0)`" }.joined(separator: " ")]
    }
    #expect(try rows(under: "Codes") == code)
  }

  @Test("RPL-3 each cause belongs to one family")
  func families() throws {
    let folder = Repository.root.appending(path: "Sources/SessionExplain/Why/Causes")
    let text = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let ids = Cause.all.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(text.matches(of: /= Cause\(/).count == ids.count)
  }

  @Test("every sentence has a value for each pair of braces")
  func places() {
    let sentences =
      FindingWord.allCases.map(\.sentence) + AdviceWord.allCases.map(\.sentence)
      + UntoldWord.allCases.map(\.sentence) + Cause.all.map(\.headline)
    for sentence in sentences {
      let braces = sentence.filter { $0 == "{" || $0 == "}" }
      let places = sentence.indices.count { sentence[$0...].hasPrefix(WhyFormatter.place) }
      #expect(braces.count == 2 * places, "\(sentence)")
    }
  }
}

/// A page of `Specs` with tables.
struct SpecPage {
  private let lines: [String]

  init(_ path: String) throws {
    lines = try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
  }

  /// Returns the cells of the rows under a heading, without the head of the table.
  func rows(under heading: String) throws -> [[String]] {
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("| ") }.dropFirst(2).map { row in
        row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
          .map { $0.drop { $0 == " " } }
          .map { text in String(text.reversed().drop { $0 == " " }.reversed()) }
      }
  }
}
