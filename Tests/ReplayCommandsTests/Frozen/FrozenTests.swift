import Foundation
@_spi(Internals) import SessionChangeQueue
import Testing

@testable import ReplayCommands
@_spi(Internals) @testable import SessionCore
@testable import SessionExplain
@testable import SessionJournal
@testable import SessionKit

/// The journals in `Specs/Frozen`, which no later version may change.
///
/// `FREEZE=1 swift test --filter FrozenTests` adds a line for each file that the list lacks. It changes no
/// line.
@Suite("Specs/Frozen")
struct FrozenTests {
  static let folder = "Specs/Frozen/format-1"
  static let list = folder + "/journals.txt"

  private func lines() throws -> [String] {
    try Repository.text(Self.list).split(separator: "\n").map(String.init)
  }

  private func names() throws -> [String] {
    let folder = Repository.root.appending(path: Self.folder).path(percentEncoded: false)
    return try FileManager.default.contentsOfDirectory(atPath: folder).filter {
      $0.hasSuffix(".journal")
    }.sorted()
  }

  private func path(_ name: String) -> String {
    Repository.root.appending(path: "\(Self.folder)/\(name)").path(percentEncoded: false)
  }

  /// The file's size and checksum.
  private func content(_ name: String) throws -> String {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    var checksum = Checksum()
    checksum.extend(over: bytes)
    return "\(name) \(bytes.count) bytes \(String(checksum.value, radix: 16))"
  }

  /// What this version reads from it: a journal, then a session.
  private func reading(_ name: String) throws -> String {
    let run = ToolRun.inProcess(["verify", path(name), "--json"])
    guard let report = try run.objects().first else {
      return try run.error()["name"] as? String ?? "no error"
    }
    var reader = try JournalReader(path: path(name))
    let ending = try reader.ending()
    let word =
      switch ending {
      case .clean: "clean with room \(reader.room)"
      case .torn(let tail): "torn at \(tail.offset) \(tail.flaw.rawValue)"
      case .undetermined(let tail): "undetermined at \(tail.offset) \(tail.flaw.rawValue)"
      case .damaged(let damage): "damaged at \(damage.offset) \(damage.flaw.rawValue)"
      }
    let totals = reader.totals
    let readable = try reader.survey().runs.reduce(0) { $0 + $1.records }
    let text =
      "\(word), records \(totals.records), last \(totals.lastSequence), readable behind \(readable)"
    // The other files do not contain payloads of a session.
    if name.hasPrefix("changes") {
      let state = ToolRun.inProcess(["state", path(name)]).output
      let first = state.prefix { $0 != "\n" }.drop { $0 != " " }.drop { $0 == " " }
      return text + ", change log \(report["verdict"] ?? ""): \(first)"
    }
    guard name.hasPrefix("session") else { return text }
    return text + ", session \(report["verdict"] ?? "") and \(report["state"] ?? "")"
  }

  @Test("JRN-3 each frozen journal keeps its bytes and is read as before")
  func frozen() throws {
    if ProcessInfo.processInfo.environment["FREEZE"] != nil { try freeze() }
    let lines = try lines()
    #expect(lines.map { $0.split(separator: " ").first.map(String.init) } == (try names()))
    #expect(lines.count >= 19)
    for line in lines {
      let name = String(line.prefix { $0 != " " })
      #expect(line == "\(try content(name)): \(try reading(name))")
    }
  }

  private func freeze() throws {
    let isThere = FileManager.default.fileExists(
      atPath: Repository.root.appending(path: Self.list).path(percentEncoded: false))
    let old = isThere ? try lines() : []
    let known = Set(old.map { String($0.prefix { $0 != " " }) })
    let new = try names().filter { !known.contains($0) }.map {
      "\(try content($0)): \(try reading($0))"
    }
    let text = (old + new).sorted().map { $0 + "\n" }.joined()
    try text.write(
      to: Repository.root.appending(path: Self.list), atomically: true, encoding: .utf8)
  }
}

/// The stable names of one kind: a file of `Specs/Frozen/names`, one name a line.
///
/// A renamed or removed name fails the test. A new one fails it until
/// `FREEZE=1 swift test --filter Frozen` adds it. That never removes a line.
struct FrozenNames {
  static let folder = "Specs/Frozen/names"

  let path: String

  init(_ kind: String) { path = "\(Self.folder)/\(kind).txt" }

  /// Compares the names that the code has with those of the file.
  func compare(with names: some Sequence<String>, sourceLocation: SourceLocation = #_sourceLocation)
    throws
  {
    let names = Set(names)
    let file = Repository.root.appending(path: path)
    var frozen = Set<String>()
    if FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) {
      frozen = Set(try Repository.text(path).split(separator: "\n").map(String.init))
    }
    if ProcessInfo.processInfo.environment["FREEZE"] != nil, !names.isSubset(of: frozen) {
      frozen.formUnion(names)
      let text = frozen.sorted().map { $0 + "\n" }.joined()
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let (gone, new) = (frozen.subtracting(names).sorted(), names.subtracting(frozen).sorted())
    #expect(gone.isEmpty, "\(path): these names are stable", sourceLocation: sourceLocation)
    #expect(new.isEmpty, "\(path) lacks these names", sourceLocation: sourceLocation)
  }
}

/// The paths of members in a JSON value: `facts.token.id`, `changes[].field`.
struct MemberPaths {
  private(set) var paths: Set<String> = []

  /// Adds the paths in one value of JSON, each after `prefix`.
  mutating func add(_ json: Data, after prefix: String) throws {
    add(try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed), prefix)
  }

  private mutating func add(_ value: Any, _ path: String) {
    switch value {
    case let object as [String: Any]:
      if object.isEmpty { paths.insert(path) }
      for (name, member) in object {
        add(member, path.hasSuffix(" ") ? path + name : "\(path).\(name)")
      }
    case let array as [Any]:
      if array.isEmpty { paths.insert(path + "[]") }
      for element in array { add(element, path + "[]") }
    default: paths.insert(path)
    }
  }
}

/// The names in `Specs/Frozen/names` that records and the output of commands have.
@Suite("Specs/Frozen/names: names")
struct FrozenNamesTests {
  @Test("JRN-3 the kinds of records and the words of codes keep their bytes")
  func records() throws {
    var names = SessionEvent.Kind.allCases.map { "event \($0.rawValue) \($0)" }
    names += SessionNote.Kind.allCases.map { "note \($0.rawValue) \($0)" }
    names += ChangeEvent.Kind.allCases.map { "change \($0.rawValue) \($0)" }
    names += AccountCodec.names.map { "account \($0.kind) \($0.name)" }
    names += Change.Operation.allCases.map { "change operation \($0.rawValue) \($0)" }
    names.append("snapshot \(SessionRecord.snapshotKind)")
    let codes: [(String, any OpenEnum.Type)] = [
      ("login method", LoginMethod.self), ("refresh trigger", RefreshTrigger.self),
      ("switch trigger", SwitchTrigger.self), ("expiry reason", ExpiryReason.self),
      ("logout reason", LogoutReason.self), ("request kind", RequestKind.self),
      ("revocation outcome", RevocationOutcome.self), ("secret item", SecretItem.self),
      ("lock reason", SessionNote.LockReason.self), ("wipe cause", SessionNote.WipeCause.self),
      ("failure kind", RequestFailure.Kind.self),
      ("continuation cause", SessionNote.ContinuationCause.self),
      ("storage operation", StorageOperation.self), ("storage cause", StorageCause.self),
      ("error meaning", ErrorMeaning.self), ("platform", Platform.self),
      ("give-up cause", DeadLetterCause.self), ("discard cause", DiscardCause.self),
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
    names += OtherLog.Kind.allCases.map { "session state \($0.rawValue)" }
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
        SessionRecord(sequence: UInt64(number + 1), time: SampleJournal.start, content: content))
    }
    return StateDescription(fold).rows.map(\.path)
  }
}
