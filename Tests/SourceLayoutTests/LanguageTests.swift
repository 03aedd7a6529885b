import Foundation
import Testing

/// The language of comments, pages and test names.
@Suite("Language")
struct LanguageTests {
  private let tree = SourceTree()

  /// The pages that a user reads first.
  private func articles() throws -> [String] {
    ["README.md"] + (try tree.files(below: "Sources", suffix: ".md"))
  }

  @Test("README has at most 12 KiB")
  func readmeSize() throws {
    #expect(try tree.text(of: "README.md").utf8.count <= 12_288)
  }

  @Test("the mean sentence of README and of each article has at most 17 words")
  func sentences() throws {
    let pages = try articles()
    #expect(pages.count > 20)
    for page in pages {
      let lengths = Prose.sentences(of: try tree.text(of: page)).map(\.count)
      let mean = Double(lengths.reduce(0, +)) / Double(max(1, lengths.count))
      #expect(mean <= 17, "\(page): \(mean) words in the mean of \(lengths.count) sentences")
    }
  }

  @Test("the measure counts words of sentences, and leaves out code, tables and comments")
  func measure() {
    let page = """
      # A title

      One two three. Four five
      six seven!

      <!-- given: session: Session -->
      ```swift
      let nothing = here
      ```

      | a | table |
      - A list item, which is a sentence
      - another one

      1. Decide it.
      """
    let counts = Prose.sentences(of: page).map(\.count)
    #expect(counts == [3, 4, 7, 2, 2])
  }

  @Test("no page, comment or test name uses an expression that words.txt lists for it")
  func words() throws {
    var files = [
      "pages": try articles() + tree.files(below: "Specs", suffix: ".md"), "sources": [],
      "tests": [],
    ]
    for folder in ["Sources", "Tools"] {
      files["sources", default: []] += try tree.swiftFiles(below: folder)
    }
    files["tests"] = try tree.swiftFiles(below: "Tests")
    let list = try tree.text(of: "Tests/SourceLayoutTests/words.txt").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
    var expressions: [Substring: [Substring]] = [:]
    for line in list {
      let parts = line.split(separator: " ", maxSplits: 1)
      for scope in parts[0].split(separator: "+") {
        try #require(files[String(scope)] != nil && parts.count == 2, "\(line)")
        expressions[scope, default: []].append(parts[1])
      }
    }
    #expect(list.count > 10 && expressions.count == 3)
    for (scope, expressions) in expressions {
      // They search whole files faster than `Regex` does.
      let pattern = try NSRegularExpression(
        pattern: expressions.joined(separator: "|"), options: .caseInsensitive)
      for file in files[String(scope), default: []] {
        let text = try tree.text(of: file)
        let lines = file.hasSuffix(".md") ? Prose.lines(of: text) : Prose.comments(of: text)
        let prose = lines.joined(separator: "\n")
        for match in pattern.matches(in: prose, range: NSRange(prose.startIndex..., in: prose)) {
          let found = Range(match.range, in: prose).map { prose[prose.lineRange(for: $0)] }
          Issue.record("\(file) uses a word of words.txt: \(found ?? "")")
        }
      }
    }
  }

  @Test("the check sees each comment and each name of a test, and no code")
  func comments() {
    let source = """
      /// A type.
      let a = 1  // after code
      let b = "https://example.com // no comment"
          // alone
      @Test(
        "a long name")
      func name() {}
      """
    let found = Prose.comments(of: source).map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(found == ["A type.", "after code", "alone", "@Test( \"a long name\")"])
  }

  @Test("a doc comment names requirements on its last line alone")
  func requirements() throws {
    let id = "(?:STA|LOG|REF|RES|POL|OUT|CTX|JRN|STO|INT|SYN|WEB|RPL|TST|SCL|LCH|DOC|ACC)-\\d"
    // A line with an identifier, and the beginning of the next one.
    let pattern = try NSRegularExpression(
      pattern: "^ *(///.*\\b\(id).*)\n *(///)?", options: .anchorsMatchLines)
    var count = 0
    for file in try ["Sources", "Tools"].flatMap(tree.swiftFiles) {
      let text = try tree.text(of: file)
      for match in pattern.matches(in: text, range: NSRange(text.startIndex..., in: text)) {
        let place = try #require(Range(match.range(at: 1), in: text))
        let isLast = Range(match.range(at: 2), in: text) == nil
        #expect(
          text[place].hasPrefix("/// - Requirement: ") && isLast,
          "\(file):\(text[..<place.lowerBound].count { $0 == "\n" } + 1): \(text[place])")
        count += 1
      }
    }
    #expect(count > 100)
  }
}

/// The text of a page or a source that a person reads.
private enum Prose {
  /// The lines of a page without its code and tables.
  static func lines(of page: String) -> [Substring] {
    var isCode = false
    return page.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      let start = line.drop { $0 == " " }
      if start.hasPrefix("```") {
        isCode.toggle()
        return false
      }
      return !isCode && !start.hasPrefix("|") && !start.hasPrefix("<!--")
    }
  }

  /// The comments of a source, also those after code, and the names of its tests.
  static func comments(of source: String) -> [Substring] {
    let afterCode = #/[^"]*(?:"[^"]*"[^"]*)*\s// /#
    let lines = source.split(separator: "\n").map { $0.drop { $0 == " " } }
    return lines.enumerated().compactMap { number, line in
      if line.hasPrefix("//") { return line.drop { $0 == "/" } }
      if line.contains(" // "), let code = line.prefixMatch(of: afterCode) {
        return line[code.range.upperBound...]
      }
      guard line.hasPrefix("@Test(") || line.hasPrefix("@Suite(") else { return nil }
      // A long name begins on the line after the attribute, and may have several lines.
      let attribute = lines[number...].prefix {
        !$0.contains("func ") && !$0.contains("struct ") && !$0.contains("class ")
      }
      return attribute.joined(separator: " ")[...]
    }
  }

  /// The sentences of a page, each as its words.
  ///
  /// An item of a list ends a sentence. A title is no sentence.
  static func sentences(of page: String) -> [[Substring]] {
    let item = #/(?:-|\d+\.) /#
    let end = /[.!?:]\s+/
    var blocks = [""]
    for line in lines(of: page) {
      let start = line.drop { $0 == " " }
      let isItem = start.prefixMatch(of: item) != nil
      if start.isEmpty || start.hasPrefix("#") || isItem { blocks.append("") }
      guard !start.hasPrefix("#") else { continue }
      blocks[blocks.count - 1] += " " + (isItem ? start.drop { $0 != " " } : start)
    }
    return blocks.flatMap { block in
      block.split(separator: end).map { $0.split(separator: " ") }
    }.filter { $0.count > 1 }
  }
}
