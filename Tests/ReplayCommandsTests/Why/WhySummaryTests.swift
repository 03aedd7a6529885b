import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// The plain sentences at the beginning of an answer, in three languages.
@Suite("RPL-3 The summary of an answer")
struct WhySummaryTests {
  /// Words that a person who has never seen this project does not know.
  private static let jargon = [
    "@", "#", "seq", "journal", "generation", "lease", "answering", "fold", "rotat", "replay",
    "RFC", "lock file", "snapshot", "diario",
  ]

  private func kept(_ name: String) -> String {
    Repository.root.appending(path: "Specs/Journals/\(name).journal").path(percentEncoded: false)
  }

  private func summary(_ name: String) throws -> String {
    let line = try RecordedQuestion.options(of: name)
    let object = try #require(
      try ToolRun.inProcess(["why", kept(name), "--json"] + line).objects().first)
    return try #require(object["summary"] as? String)
  }

  @Test("RPL-3 every cause has a story and a fix in each language, without jargon")
  func words() {
    var seen: Set<String> = []
    for cause in Cause.all + Cause.reworded {
      for language in SessionLanguage.allCases {
        let plain = cause.plain(in: language)
        for text in [plain.story, plain.fix] {
          #expect(!text.isEmpty && !text.hasSuffix(".") && text.lowercasedStart == text, "\(text)")
          for word in Self.jargon {
            #expect(!text.localizedCaseInsensitiveContains(word), "\(cause) \(language): \(word)")
          }
        }
        #expect(seen.insert(plain.story).inserted, "\(cause) \(language) is not a text of its own")
      }
    }
  }

  @Test("RPL-3 a story has all values of the headline or none, the same in each language")
  func places() {
    for cause in Cause.all + Cause.reworded {
      let counts = SessionLanguage.allCases.map { language in
        cause.plain(in: language).story.components(separatedBy: WhyFormatter.place).count - 1
      }
      let most = cause.headline.components(separatedBy: WhyFormatter.place).count - 1
      #expect(Set(counts).count == 1 && (counts[0] == 0 || counts[0] == most), "\(cause)")
      #expect(SessionLanguage.allCases.allSatisfy { !cause.plain(in: $0).fix.contains("{") })
    }
  }

  @Test("RPL-3 a summary says probably or possibly unless its cause is proven")
  func hedges() {
    for cause in Cause.all {
      for (certainty, word) in [
        (Certainty.proven, ""), (.likely, " (probably)"), (.possible, " (possibly)"),
      ] {
        var explanation = Explanation(
          cause: cause, certainty: certainty, before: .authenticated, after: .expired)
        explanation.headline = [.counted(2, "attempt")]
        let start = cause.experience.text(in: .english) + word + ": "
        #expect(explanation.summary().hasPrefix(start), "\(cause)")
        #expect(explanation.oneLine.contains(start.lowercasedStart))
        #expect(explanation.oneLine.contains("[\(cause), \(certainty)]"))
        #expect(explanation.summary().contains("probably") == (certainty == .likely))
      }
    }
  }

  @Test("RPL-3 a value in a story is written in the story's language")
  func values() {
    var explanation = Explanation(
      cause: .serverFailing, certainty: .proven, before: .authenticated, after: .expired)
    for (number, spanish, portuguese) in [
      (1, "(1 intento)", "(1 tentativa)"), (1_200, "(1,200 intentos)", "(1,200 tentativas)"),
    ] {
      explanation.headline = [.counted(UInt64(number), "attempt")]
      #expect(explanation.summary(in: .spanish).contains(spanish))
      #expect(explanation.summary(in: .portuguese).contains(portuguese))
    }
    explanation.cause = .clockForward
    explanation.headline = [.span(7_200_000)]
    #expect(explanation.summary().contains("set forward by 2 h, so"))
  }

  @Test("RPL-3 a summary excludes at most four topics, in a fixed order, and only proven ones")
  func excluded() throws {
    var explanation = Explanation(
      cause: .lostReply, certainty: .likely, before: .authenticated, after: .expired)
    let words: [FindingWord] = [
      .tokenHadLife, .noRefusalBefore, .oneProcess, .nothingUnreadable, .clockAgrees,
      .noLogoutByApp,
    ]
    explanation.findings.ruledOut = words.map { Finding($0) }
    #expect(
      explanation.summaryLines(in: .english)[1]
        == "Not a sign-out in the app, not the clock, not storage, not another part of the app.")
    #expect(
      explanation.summaryLines(in: .spanish)[1]
        == "No fue un cierre de sesión en la app, ni el reloj, ni el almacenamiento, ni otra parte de "
        + "la app.")
    #expect(
      explanation.summaryLines(in: .portuguese)[1]
        == "Não foi um encerramento no app, nem o relógio, nem o armazenamento, nem outra parte do "
        + "app.")
    explanation.findings.ruledOut[3].certainty = .possible
    #expect(!explanation.summary().contains("storage"))
    explanation.findings.ruledOut = [Finding(.noRefusalBefore), Finding(.noEnd)]
    #expect(!explanation.summary().contains("Not "))
    let topics = Set(FindingWord.allCases.compactMap(\.topic)).subtracting([
      "earlier refusal", "end of the session",
    ])
    #expect(topics == Set(Excluded.allCases.map(\.rawValue)))
  }

  @Test("RPL-3 a summary and a line say that a new sign-in followed the end")
  func again() {
    var explanation = Explanation(
      cause: .lostReply, certainty: .likely, before: .authenticated, after: .expired)
    #expect(!explanation.summary().contains("new sign-in"))
    #expect(!explanation.oneLine.contains("new sign-in"))
    explanation.signedInAgain = 78
    for (language, sentence) in [
      (SessionLanguage.english, "A new sign-in followed."),
      (.spanish, "Después hubo un nuevo inicio de sesión."),
      (.portuguese, "Depois disso, houve um novo login."),
    ] {
      #expect(explanation.summaryLines(in: language)[1] == sentence)
    }
    #expect(explanation.oneLine.hasSuffix(", a new sign-in followed"))
  }

  @Test("RPL-3 a summary excludes a sign-out in the app, and not the user")
  func user() throws {
    var explanation = Explanation(
      cause: .revokedElsewhere, certainty: .proven, before: .authenticated, after: .expired)
    explanation.findings.ruledOut = [Finding(.noLogoutByApp)]
    #expect(explanation.summary().contains("Not a sign-out in the app."))
    for cause in Cause.all { #expect(try !summary(cause.id).contains("Not the user"), "\(cause)") }
  }

  @Test("RPL-3 the summary of a logout after an expiry has the reason and the fix of the expiry")
  func earlier() throws {
    let text = try summary("user-logout-after-expiry")
    #expect(text.hasPrefix("Signed out by the app: "))
    #expect(text.contains(" Earlier, signed out: the server says that the session was revoked. "))
    #expect(text.contains("Fix: find out at the server who or what revoked it."))
    #expect(!text.contains("Not a sign-out"))
  }

  @Test("RPL-3 no recorded answer has jargon or an identifier in its summary")
  func recorded() throws {
    for cause in Cause.all {
      let text = try summary(cause.id)
      for word in Self.jargon {
        #expect(!text.localizedCaseInsensitiveContains(word), "\(cause): \(text)")
      }
      #expect(text.contains("Fix: ") && text.hasSuffix("."), "\(text)")
      #expect(
        !text.contains("{") && !text.contains("..")
          && !text.contains(
            "tok"
              + "#"),
        "\(text)")
    }
  }
}

/// The options of the question that a recorded answer begins with.
enum RecordedQuestion {
  static func options(of name: String) throws -> [String] {
    let text = try Repository.text("Specs/Journals/\(name).txt")
    let line = text.prefix { $0 != "\n" }.split(separator: " ")
    return line.dropFirst(4).map(String.init)
  }
}
