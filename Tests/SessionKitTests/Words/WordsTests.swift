import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionMessages
import Testing

@Suite("Texts for users")
struct WordsTests {
  @Test("LOG-8 every case has a sample, and every message and advice is used by a case")
  func completeness() {
    let failures = ErrorSamples.sessionErrorCases.map(\.failure.name)
    #expect(failures.sorted() == SessionError.Failure.allCases.map(\.name).sorted())
    for (type, file, samples) in ErrorSamples.enums {
      #expect(samples.map(\.name).sorted() == ErrorSamples.cases(of: type, in: file).sorted())
      for (name, value) in samples {
        let label = Mirror(reflecting: value).children.first?.label
        #expect(label == nil || label == name)
      }
    }
    let values = ErrorSamples.all.map(\.value)
    #expect(Set(values.map { ErrorSamples.caseName($0.message) }) == Set(ErrorSamples.messages))
    #expect(Set(values.map { ErrorSamples.caseName($0.advice) }) == Set(ErrorSamples.advice))
  }

  @Test("LOG-8 Specs/Errors.md has the message and the advice of each case")
  func cases() throws {
    // A row has all cases of a type that read the same: `JournalError: missing, isDirectory`.
    let rows = SpecPage("Errors.md").rows(["what", "message", "advice"]).flatMap { row in
      let parts = row[0].components(separatedBy: ": ")
      let cases = parts.count > 1 ? parts[1].components(separatedBy: ", ").map { ".\($0)" } : [""]
      return cases.map { [parts[0] + $0, row[1], row[2]] }
    }
    let code = ErrorSamples.all.filter { !($0.value is SessionError) }.map { sample in
      [
        sample.name, ErrorSamples.caseName(sample.value.message),
        ErrorSamples.caseName(sample.value.advice),
      ]
    }
    #expect(Set(rows) == Set(code) && rows.count == Set(code).count)
  }

  // The texts are tables in SessionMessages. A digest shows a change that was not intended.
  @Test(
    "LOG-8 messages and advice have the texts of Specs/Golden/messages.txt",
    arguments: SessionLanguage.allCases)
  func texts(language: SessionLanguage) throws {
    var messages: [String: SessionMessage] = [:]
    for sample in ErrorSamples.all {
      messages[ErrorSamples.caseName(sample.value.message)] = sample.value.message
    }
    let rows =
      messages.map { "\($0.key)|\($0.value.problem(in: language))" }.sorted()
      + Self.advice.map { "\($0)|\($1.text(in: language))" }
    let digest = SipHash.digest(of: Array(rows.joined(separator: "\n").utf8), low: 0, high: 0)
    let line = "\(language): \(rows.count) texts, \(Data(digest).base64EncodedString())"
    let golden = SpecPage.root.appending(path: "Specs/Golden/messages.txt")
    #expect(try String(contentsOf: golden, encoding: .utf8).contains(line), "it is \(line)")
  }

  static let advice: [(String, SessionAdvice)] =
    [
      ("retry", .retry), ("wait", .wait(nil)), ("wait 0", .wait(.seconds(0))),
      ("wait 1", .wait(.seconds(1))), ("wait 30", .wait(.seconds(30))),
      ("wait 120", .wait(.seconds(120))), ("wait 121", .wait(.seconds(121))),
      ("wait 7200", .wait(.seconds(7200))), ("wait 7201", .wait(.seconds(7201))),
      ("correctInput", .correctInput), ("sendOrDiscard", .sendOrDiscard), ("signIn", .signIn),
      ("logOut", .logOut),
      ("unlock", .unlock), ("unlockApp", .unlockApp), ("freeSpace", .freeSpace),
      ("reopen", .reopen), ("update", .update),
      ("contactSupport", .contactSupport), ("nothing", .nothing),
    ]

  @Test("LOG-8 every advice is among those whose text is checked")
  func everyAdvice() {
    #expect(Set(Self.advice.map { ErrorSamples.caseName($0.1) }) == Set(ErrorSamples.advice))
  }

  @Test(
    "LOG-8 STO-3 every case has its own text and advice in each language, without codes or paths",
    arguments: SessionLanguage.allCases)
  func everyCase(language: SessionLanguage) {
    for (name, value) in ErrorSamples.all {
      let text = value.text(in: language)
      let problem = value.message.problem(in: language)
      let advice = value.advice.text(in: language)
      #expect(problem.count > 10 && problem.hasSuffix("."), "\(name)")
      #expect(advice.isEmpty == (value.advice == .nothing), "\(name)")
      #expect(text == (advice.isEmpty ? problem : "\(problem) \(advice)"), "\(name)")
      for other in SessionLanguage.allCases where other != language {
        #expect(problem != value.message.problem(in: other), "\(name)")
        if !advice.isEmpty { #expect(advice != value.advice.text(in: other), "\(name)") }
      }
      #expect(!text.contains("MARKED") && !text.contains("/private"), "\(name)")
      #expect(!text.contains("A_CODE") && !text.contains("401"), "\(name)")
    }
  }

  @Test("LOG-8 no two messages read the same", arguments: SessionLanguage.allCases)
  func distinct(language: SessionLanguage) {
    var words: [String: String] = [:]
    for sample in ErrorSamples.all {
      words[ErrorSamples.caseName(sample.value.message)] = sample.value.message.problem(
        in: language)
    }
    #expect(Set(words.values).count == ErrorSamples.messages.count)
  }

  @Test("LOG-8 the text for developers differs from the user's, and names the place")
  func developers() {
    var marked = 0
    for (name, value) in ErrorSamples.errors {
      let description = "\(value)"
      #expect(description != value.text(in: .english), "\(name)")
      if description.contains(ErrorSamples.marked) { marked += 1 }
    }
    #expect(marked > 30, "the check that users do not read it would see it")
  }

  @Test("LOG-8 Foundation shows the texts of an error, also if only its type Error is known")
  func foundation() throws {
    var count = 0
    for (name, value) in ErrorSamples.all {
      guard let error = value as? any Error else { continue }
      count += 1
      #expect(error.localizedDescription == value.message.problem(in: .preferred), "\(name)")
      let localized = try #require(error as? any LocalizedError, "\(name)")
      let advice = value.advice.text(in: .preferred)
      #expect(localized.recoverySuggestion == (advice.isEmpty ? nil : advice), "\(name)")
      #expect(localized.failureReason == nil && localized.helpAnchor == nil)
    }
    #expect(count > 90)
  }

  @Test(
    "LOG-8 the first supported language is chosen, or English if there is none",
    arguments: [
      (["es-419", "en"], SessionLanguage.spanish), (["pt_BR"], .portuguese),
      (["PT-pt"], .portuguese),
      (["fr", "de-CH", "es"], .spanish), (["fr"], .english), ([], .english), ([""], .english),
      (["esperanto", "pt"], .portuguese), (["en-GB", "es"], .english),
    ])
  func language(tags: [String], expected: SessionLanguage) {
    #expect(SessionLanguage(preferring: tags) == expected)
  }

  @Test(
    "LOG-8 one change is in the singular in every language", arguments: SessionLanguage.allCases)
  func oneChange(language: SessionLanguage) {
    for make in [
      SessionMessage.changesNotSent, SessionMessage.othersChanges, SessionMessage.changesFull,
    ] {
      let (one, two) = (make(1).problem(in: language), make(2).problem(in: language))
      #expect(one.contains("1 ") && two.contains("2 "))
      #expect(one.replacing("1 ", with: "2 ") != two, "\(one)")
    }
  }

  @Test("LOG-3 LOG-8 a wait is rounded up to seconds, and is shown as 'later' if unknown")
  func waits() {
    for (wait, expected) in [
      (1, "Try again in 1 second."), (1_000, "Try again in 1 second."),
      (1_001, "Try again in 2 seconds."), (120_000, "Try again in 120 seconds."),
      (120_001, "Try again in 3 minutes."), (7_200_000, "Try again in 120 minutes."),
      (7_200_001, "Try again in 3 hours."),
      (Int64.max, "Try again in \(Int64.max / 3_600_000 + 1) hours."),
    ] as [(Int64, String)] {
      #expect(SessionError.rateLimited(retryAfter: wait).advice.text(in: .english) == expected)
    }
    #expect(
      SessionError.server(status: 500, code: nil).text(in: .english)
        == "The service has a problem. Try again later.")
  }
}
