import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import SessionTestSupport
import Testing

@Suite("Specs/Scenarios/README.md")
struct ScenarioPageTests {
  private func rows() throws -> [String: [String]] {
    let page = try String(contentsOfFile: ScenarioFolder.path + "/README.md", encoding: .utf8)
    let table = try #require(page.firstRange(of: "| line | words |\n| --- | --- |\n"))
    var rows: [String: [String]] = [:]
    for line in page[table.upperBound...].split(separator: "\n", omittingEmptySubsequences: false) {
      guard let row = line.wholeMatch(of: /\| `([^`]*)` \| (.*) \|/) else { break }
      rows[String(row.1)] = row.2.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }
    return rows
  }

  @Test("TST-2 the page lists the words of each line, and no others")
  func words() throws {
    var expected: [String: [String]] = [
      "shows": ScenarioVocabulary.shows, "result ok": ScenarioVocabulary.results,
      "result error": ScenarioVocabulary.errorDetails,
    ]
    for (kind, words) in ScenarioVocabulary.events { expected["event \(kind)"] = words }
    for (kind, words) in ScenarioVocabulary.notes { expected["note \(kind)"] = words }
    for (kind, words) in ScenarioVocabulary.states { expected["state \(kind)"] = words }
    for (kind, words) in ScenarioVocabulary.changes { expected["change \(kind)"] = words }
    #expect(try rows() == expected.filter { !$0.value.isEmpty })
  }

  @Test("TST-2 the page names each line, each command and each app")
  func lines() throws {
    let page = try String(contentsOfFile: ScenarioFolder.path + "/README.md", encoding: .utf8)
    for word in ScenarioVocabulary.header + ScenarioVocabulary.steps {
      #expect(page.contains("| `\(word)") || page.contains("`\(word) "), "\(word)")
    }
    for word in ScenarioVocabulary.commands + ScenarioVocabulary.apps.keys {
      #expect(page.contains("`\(word)"), "\(word)")
    }
    for word in ScenarioVocabulary.acts { #expect(page.contains("`page \(word)"), "\(word)") }
    for word in ScenarioVocabulary.links { #expect(page.contains(" \(word)=/"), "\(word)") }
  }

  @Test("TST-2 JRN-3 there is a word for each kind of event, note and state")
  func kinds() {
    #expect(
      Set(ScenarioVocabulary.events.keys) == Set(SessionEvent.Kind.allCases.map(\.description)))
    #expect(
      Set(ScenarioVocabulary.notes.keys) == Set(SessionNote.Kind.allCases.map(\.description)))
    #expect(
      Set(ScenarioVocabulary.states.keys) == Set(SessionState.Kind.allCases.map(\.description)))
  }

  @Test("TST-2 an event has the words of its kind", arguments: events)
  func event(event: SessionEvent) {
    let words = ScenarioWords.of(event, at: .plainStart)
    #expect(Set(words.keys) == Set(ScenarioVocabulary.events[event.kind.description] ?? []))
  }

  @Test("TST-2 SYN-2 a record of a change log has the words of its kind", arguments: changes)
  func change(event: ChangeEvent) throws {
    let record = ChangeRecord(sequence: 1, time: .plainStart, content: .event(event))
    let found = try #require(ScenarioWords.of(record))
    let isSame = event.kind.description.lowercased().hasSuffix(found.kind.lowercased())
    #expect(isSame, "\(event.kind) is \(found.kind)")
    #expect(Set(found.words.keys) == Set(ScenarioVocabulary.changes[found.kind] ?? []))
  }

  @Test("TST-2 SYN-2 there is a word for each kind of a change log's records")
  func changeKinds() {
    #expect(Set(Self.changes.map(\.kind)) == Set(ChangeEvent.Kind.allCases))
    #expect(ScenarioVocabulary.changes.count == ChangeEvent.Kind.allCases.count)
  }

  static let changes: [ChangeEvent] = [
    .added(
      .init(
        user: "u-1",
        change: Change.delete(.init(EntityReference("task", "t-1"), key: "k")))),
    .sent(.init(key: "k", sender: "s", process: 1, deadline: .plainStart)),
    .acknowledged("k"),
    .postponed(.init(key: "k", isCounted: true, retryAt: .plainStart, reason: "late")),
    .givenUp(.init(key: "k", cause: .refused, reason: "no")),
    .discarded(.init(cause: .logout)),
    .scopeChecked(.init(scope: "", statusChangedAt: .plainStart)),
    .addedBy(.init(journal: "j", generation: Generation(1))),
    .leaving(.init(journal: "j", process: 1, until: .plainStart)),
    .signInEnded(.init(journal: "j", generation: Generation(1))),
    .retried("k"),
  ]

  static let events: [SessionEvent] = [
    .login(as: "u-1"), .refreshed(to: 2), .refreshFailed(.server, of: 1),
    .switched(to: .plainTeacher), .expired(.tokenExpired), .loggedOut(),
  ]
}
