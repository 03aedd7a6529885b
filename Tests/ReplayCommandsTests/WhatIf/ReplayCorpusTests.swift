import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands

@Suite("replay-corpus")
struct ReplayCorpusTests {
  private static let folder = Repository.root.appending(path: "Specs/Journals")
    .path(percentEncoded: false)

  /// `UPDATE_GOLDEN=1 swift test --filter ReplayCorpus` writes the list anew; each new difference needs
  /// a reason in `Specs/Journals/README.md`.
  @Test("RPL-10 the decisions of the recorded journals that differ today are the listed ones")
  func recorded() throws {
    let run = try ToolRun.shell(
      "cd \"$1\" && exec \"$0\" replay-corpus Specs/Journals --quiet",
      [Repository.root.path(percentEncoded: false)])
    let path = "Specs/Journals/differences.txt"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try run.output.write(
        to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
    }
    #expect(try Repository.text(path) == run.output)
    #expect(run.code == (run.output.contains(" today: ") ? 3 : 0))
  }

  @Test("RPL-10 each journal with a difference has its reason on the page of the journals")
  func reasons() throws {
    let page = try Repository.text("Specs/Journals/README.md")
    let section = try #require(
      page.components(separatedBy: "\n## Decisions that differ today\n").last)
    let listed = section.matches(of: /\n\| ([a-z-]+) \| @([0-9]+) \|/).map { "\($0.1) @\($0.2)" }
    var found: [String] = []
    for line in try Repository.text("Specs/Journals/differences.txt").split(separator: "\n") {
      if let file = line.firstMatch(of: /^Specs\/Journals\/([a-z-]+)\.journal:/) {
        found.append(String(file.1))
      } else if let place = line.firstMatch(of: /^  (@[0-9]+) recorded:/), let name = found.last {
        found[found.count - 1] = name.contains("@") ? name : "\(name) \(place.1)"
      }
    }
    #expect(listed == found)
    #expect(!listed.isEmpty)
  }

  @Test("RPL-10 a decision that this version would not make is a difference, and exits with 3")
  func tampered() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.journal")
    let opened = SessionNote.Opened(process: 1, boot: nil, uptime: 5_000)
    let sent = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .manual, attempt: 1, process: 1,
      deadline: JournalOfBatches.time.advanced(by: 31_000))
    let failure = RequestFailure(kind: .noConnection)
    // The network never ends a session.
    try JournalOfBatches.write(
      [
        [.note(.opened(opened))], [.event(.login(JournalOfBatches.login))],
        [.note(.requestSent(sent))],
        [
          .event(
            .refreshFailed(
              SessionEvent.RefreshFailed(
                generation: Generation(1), trigger: .manual, attempt: 1, failure: failure,
                retryAt: nil, request: 3))),
          .event(.sessionExpired(SessionEvent.SessionExpired(reason: .refreshRejected))),
        ],
      ], to: path)
    let run = ToolRun.inProcess(["replay-corpus", path])
    #expect(run.code == 3)
    #expect(run.output.contains("3 decisions of 4 the same, 1 differ"))
    #expect(run.output.contains("@4 recorded: refreshFailed"))
    #expect(run.output.contains("no further try"))
    #expect(run.output.contains("@4 today:    refreshFailed"))
    #expect(run.output.contains("next try in 2.0 s"))
    let object = try #require(
      try ToolRun.inProcess(["replay-corpus", path, "--json"]).objects().first)
    #expect((object["differences"] as? [[String: Any]])?.count == 1)
    // whatif does not judge a decision that this version makes in another way.
    let other = ToolRun.inProcess(["whatif", path, "--policy", "attempts=2"])
    #expect(other.code == 0)
    #expect(other.output.contains("This version decides that record otherwise"))
  }
}
