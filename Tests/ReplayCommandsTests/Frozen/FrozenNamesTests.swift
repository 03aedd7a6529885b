import Foundation
@_spi(Internals) import SessionChangeQueue
import Testing

@testable import ReplayCommands
@_spi(Internals) @testable import SessionCore
@testable import SessionExplain
@testable import SessionJournal
@testable import SessionKit

/// The names in `Specs/Frozen/names` that records and the output of commands have.
@Suite("Specs/Frozen/names: names")
struct FrozenNamesTests {
  @Test("JRN-3 the kinds of records and the words of codes keep their bytes")
  func records() throws {
    var names = SessionEvent.Kind.allCases.map { "event \($0.rawValue) \($0)" }
    names += SessionNote.Kind.allCases.map { "note \($0.rawValue) \($0)" }
    names += ChangeEvent.Kind.allCases.map { "change \($0.rawValue) \($0)" }
    names += Change.Operation.allCases.map { "change operation \($0.rawValue) \($0)" }
    names.append("snapshot \(SessionRecord.snapshotKind)")
    let codes: [(String, any OpenEnum.Type)] = [
      ("login method", LoginMethod.self), ("refresh trigger", RefreshTrigger.self),
      ("switch trigger", SwitchTrigger.self), ("expiry reason", ExpiryReason.self),
      ("logout reason", LogoutReason.self), ("request kind", RequestKind.self),
      ("revocation outcome", RevocationOutcome.self), ("secret item", SecretItem.self),
      ("wipe cause", SessionNote.WipeCause.self), ("failure kind", RequestFailure.Kind.self),
      ("continuation cause", SessionNote.ContinuationCause.self),
      ("storage operation", StorageOperation.self), ("storage cause", StorageCause.self),
      ("error meaning", ErrorMeaning.self), ("platform", Platform.self),
      ("give-up cause", DeadLetterCause.self),
      ("discard cause", DiscardCause.self),
    ]
    for (name, type) in codes {
      names += type.words.enumerated().map { "\(name) \($0.offset) \($0.element)" }
    }
    let failures = [
      RequestFailure.codeNotKept, RequestFailure.notTrusted, RequestFailure.notOffered,
      RequestFailure.wrongAddress, RequestFailure.movedAddress,
    ]
    names += failures.map { "failure code \($0)" }
    try FrozenNames("records").compare(with: names)
  }

  @Test("RPL-5 output words, exit codes and error names do not change")
  func words() throws {
    var names = ExitCode.allCases.flatMap { code in
      ["exit code \(code.rawValue)", "exit code \(code.rawValue) \(code.name)"]
    }
    names.append("session state \(ChangeState.word)")
    names += try Self.stateFields().map { "field of a state \($0)" }
    func add<Word: CaseIterable & RawRepresentable<String>>(_ kind: String, _: Word.Type) {
      names += Word.allCases.map { "\(kind) \($0.rawValue)" }
    }
    add("session state", SessionState.Kind.self)
    add("rejection", SessionRejection.Reason.self)
    add("naming source", NamingSource.self)
    add("journal flaw", JournalFlaw.self)
    add("storage trouble", StorageIssue.self)
    add("failure class", SessionWarning.FailureClass.self)
    add("refresh denial", RefreshDenial.self)
    add("language", SessionLanguage.self)
    names += Cause.all.map { "cause \($0.id)" }
    add("class of a cause", Cause.Class.self)
    add("class of a line", LineClass.self)
    add("error", ToolError.Name.self)
    add("verdict", JournalFault.Verdict.self)
    add("certainty", Certainty.self)
    add("finding", FindingWord.self)
    add("unknown", UntoldWord.self)
    add("advice", AdviceWord.self)
    add("role in the chain", Explanation.Role.self)
    add("grouping", StatsGrouping.self)
    add("group of a report", ReportJournal.Group.self)
    add("pseudonym", Pseudonyms.Category.self)
    add("ending of an export", ExportEnding.self)
    add("import problem", ImportProblem.Name.self)
    add("export format", ExportCommand.Format.self)
    add("help topic", HelpText.Topic.self)
    add("color", Style.Choice.self)
    add("what-if answer", WhatIfAnswer.Kind.self)
    add("undecided batch", DecisionReplay.Gap.self)
    add("preset", PolicyChange.Preset.self)
    add("policy value", PolicyChange.Key.self)
    try FrozenNames("words").compare(with: names)
  }

  /// The names of the fields that `diff` compares: those of a session with an open request.
  private static func stateFields() throws -> [String] {
    let login = SessionEvent.login(
      .init(user: "u-1", method: .password, token: SampleJournal.token(1, at: 0)))
    let sent = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .manual, attempt: 1, process: 1,
      deadline: SampleJournal.start, identity: ProcessIdentity(opening: "opening-1"))
    var fold = SessionFold()
    for (number, content) in [.event(login), SessionRecord.Content.note(.requestSent(sent))]
      .enumerated()
    {
      try fold.apply(
        SessionRecord(
          sequence: UInt64(number + 1), time: SampleJournal.start, content: content))
    }
    return StateDescription(fold).rows.map(\.path)
  }
}
