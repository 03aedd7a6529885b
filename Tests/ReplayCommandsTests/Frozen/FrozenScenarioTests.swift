import Foundation
import SessionTestSupport
import Testing

@testable import SessionTestKit

/// The names in `Specs/Frozen/names` that files of tests have.
@Suite("Specs/Frozen/names: files of tests")
struct FrozenScenarioTests {
  private typealias Words = ScenarioVocabulary

  @Test("TST-1 the words of scenario files do not change")
  func scenarios() throws {
    var names: [String] = []
    func add(_ kind: String, _ words: [String]) { names += words.map { "\(kind) \($0)" } }
    func add(_ kind: String, _ words: [String: [String]]) {
      for (word, fields) in words { add("\(kind) \(word)", [""] + fields) }
    }
    add("header", Words.header)
    add("step", Words.steps)
    add("app", Words.apps)
    add("command", Words.commands)
    add("act", Words.acts)
    add("link", Words.links)
    add("item", Words.items)
    add("event", Words.events)
    add("note", Words.notes)
    add("state", Words.states)
    add("shows", Words.shows)
    add("change", Words.changes)
    add("result", Words.results)
    add("error detail", Words.errorDetails)
    add("error", Words.errors)
    add("policy", Words.policy)
    add("owner", Words.owners)
    add("environment", Words.environments)
    add("part of a request", Words.request)
    add("part of a change", Words.change)
    add("part of the log", Words.log)
    add("part of an answer", Words.answer)
    add("preposition", Words.prepositions)
    for (field, words) in Words.values { add("value of \(field)", words) }
    for (field, words) in Words.policyValues { add("value of policy \(field)", words) }
    try FrozenNames("scenarios").compare(
      with: names.map { $0.trimmingCharacters(in: .whitespaces) })
  }

  @Test("TST-1 a scenario accepts each listed word as a value, and no other")
  func values() {
    for (field, words) in Words.values {
      for word in words { #expect(isAccepted("\(field) \(word)"), "\(field) \(word)") }
      #expect(!isAccepted("\(field) anything"), "\(field)")
    }
    for (field, words) in Words.policyValues {
      for word in words {
        #expect(isAccepted(policy: "\(field)=\(word)"), "\(field)=\(word)")
      }
      #expect(!isAccepted(policy: "\(field)=anything"), "\(field)")
    }
    #expect(isAccepted("do refresh in phone as first\nlost to first"))
  }

  /// Whether a scenario with this step or policy is valid.
  private func isAccepted(_ step: String = "do close", policy: String? = nil) -> Bool {
    let header = "scenario values\nproves STA-1\napp EDU\n"
    let text = header + (policy.map { "policy \($0)\n" } ?? "") + "\nat 0s\ndo open\n\(step)\n"
    do {
      _ = try Scenario(text, file: "values")
      return true
    } catch {
      return false
    }
  }

  @Test("TST-1 the words, file names and folder of saved cases do not change")
  func regressions() throws {
    var names = Regression.Field.allCases.map { "field \($0.rawValue)" }
    names += Regression.Status.allCases.map { "status \($0.rawValue)" }
    names += ["suffix \(RegressionFolder.suffix)", "folder \(RegressionFolder.name)"]
    let told = Regression(property: "p", replay: "r", message: "m", steps: []).text
    let fields = told.split(separator: "\n").map { $0.prefix { $0 != ":" } }
    #expect(fields == Regression.Field.allCases.map { $0.rawValue[...] })
    try FrozenNames("regressions").compare(with: names)
  }
}
