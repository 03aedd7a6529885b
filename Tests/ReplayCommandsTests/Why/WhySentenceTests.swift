import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Sentences that were wrong in earlier versions (RPL-6, RPL-5).
@Suite("Sentences of the tool are true")
struct WhySentenceTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func kept(_ name: String) -> String {
    Repository.root.appending(path: "Specs/Journals/\(name).journal").path(percentEncoded: false)
  }

  /// A session that ended with a server's response to a refresh.
  private func refused(_ code: String, means meaning: ErrorMeaning? = nil) throws -> String {
    let failure = RequestFailure(kind: .rejected, status: 401, serverCode: code)
    let path = folder.file("\(UUID()).journal")
    try SampleJournal.write(
      to: path,
      batches: [
        SampleJournal.batches[0], SampleJournal.batches[1], SampleJournal.batches[2],
        (
          1_200,
          [
            .event(
              .refreshFailed(
                .init(
                  generation: Generation(1), trigger: .schedule, attempt: 1, failure: failure,
                  retryAt: nil, request: 3, configuredMeaning: meaning))),
            .event(.sessionExpired(.init(reason: .refreshRejected))),
          ]
        ),
      ])
    return path
  }

  @Test("RPL-6 why does not blame the server for an unsent request or another user's token")
  func notRefused() throws {
    for (name, kind) in [("no-refresh-token", "noRefreshToken"), ("other-user", "otherUser")] {
      for command in ["timeline", "why"] {
        let text = ToolRun.inProcess([command, kept(name)]).output
        #expect(!text.contains("refused to refresh"), "\(command) \(name)")
        #expect(text.contains("the token could not be refreshed"), "\(command) \(name)")
      }
      let object = try #require(
        try ToolRun.inProcess(["stats", kept(name), "--json"]).objects().first)
      let ends = try #require(object["ends"] as? [String: Int])
      #expect(ends == ["refreshRejected(\(kind))": 1])
    }
    let object = try #require(
      try ToolRun.inProcess(["stats", kept("refused"), "--json"]).objects().first)
    #expect(object["ends"] as? [String: Int] == ["refreshRejected": 1])
  }

  @Test(
    "POL-8 a code in small letters or from the configuration determines the cause",
    arguments: [
      ("refresh_token_already_used", nil, "the refresh token was used already"),
      ("session_not_found", nil, "the server does not know the refresh token"),
      ("AADB2C90129", nil, "the server says that the session was revoked"),
      ("RENEWAL_REUSED", ErrorMeaning.refreshTokenReused, "the refresh token was used already"),
      ("TOKEN_EXPIRED", .tokenRevoked, "the server says that the session was revoked"),
      ("PASSWORD_CHANGED", .tokenRevoked, "the server says that the user's password was changed"),
      ("MFA_REQUIRED", .tokenExpired, "the server says that the refresh token has expired"),
    ])
  func meanings(code: String, meaning: ErrorMeaning?, headline: String) throws {
    let run = ToolRun.inProcess(["why", try refused(code, means: meaning)])
    let line = run.output.split(separator: "\n").first { $0.hasPrefix("Expired at ") }
    #expect(line?.contains(headline) == true, "\(run.output)")
    #expect(run.output.contains(code))
  }

  @Test("RPL-3 a summary and a line show the code that they do not translate")
  func shownCode() throws {
    for (code, isShown) in [
      ("DEVICE_NOT_ALLOWED", true), ("MFA_REQUIRED", true), ("invalid_grant", true),
      ("TOKEN_REVOKED", false), ("correct horse", false),
    ] {
      let path = try refused(code)
      let summary = ToolRun.inProcess(["why", path]).output.prefix { $0 != "\n" }
      let line = ToolRun.inProcess(["why", path, "--oneline"]).output
      #expect(summary.hasSuffix(" (code \(code)).") == isShown, "\(summary)")
      #expect(line.contains(" (code \(code)) [") == isShown, "\(line)")
      #expect(summary.contains("code") == isShown)
    }
    let paths = try ["DEVICE_NOT_ALLOWED", "REGION_NOT_ALLOWED"].map { try refused($0) }
    let table = ToolRun.inProcess(["why"] + paths).output
    #expect(table.contains("why is not known.") && !table.contains("known (code"))
  }

  @Test("POL-8 a code that was not kept is reported as such, not as a missing reason")
  func notKept() throws {
    let notKept = ToolRun.inProcess(["why", try refused("correct horse")]).output
    #expect(notKept.contains("gave a reason whose code was not kept"))
    #expect(notKept.contains("AuthBackend.errorCodes") && !notKept.contains("horse"))
    for code in ["", "invalid_grant"] {
      let text = ToolRun.inProcess(["why", try refused(code)]).output
      #expect(!text.contains("did not say why"))
    }
    let unsaid = ToolRun.inProcess(["why", try refused("invalid_grant")]).output
    #expect(unsaid.contains("its code does not say why (invalid_grant)"))
  }

  @Test("RPL-6 causes of unknown tokens include a logout elsewhere; all include a database reset")
  func possibleCauses() throws {
    for code in ["TOKEN_NOT_FOUND", "SESSION_NOT_FOUND"] {
      let text = ToolRun.inProcess(["why", try refused(code)]).output
      #expect(text.contains("the user signed out elsewhere"), "\(code)")
      #expect(text.contains("the server's database was reset"), "\(code)")
    }
    for code in ["TOKEN_INVALID", "INVALID_GRANT"] {
      let text = ToolRun.inProcess(["why", try refused(code)]).output
      #expect(text.contains("the server's database was reset"), "\(code)")
    }
  }

  @Test(
    "RPL-6 spans are rounded to the last unit that is shown",
    arguments: [
      (7_199_500, "2 h"), (7_199_000, "2 h"), (7_140_000, "1 h 59 min"), (59_949, "59.9 s"),
      (59_950, "1 min"), (3_599_500, "1 h"), (3_599_499, "59 min 59 s"), (86_370_000, "1 d"),
      (999, "999 ms"), (1_000, "1.0 s"), (1_960, "2.0 s"), (30_000, "30 s"), (90_000, "1 min 30 s"),
      (-7_199_500, "-2 h"), (.max, "106,751,991,167 d 7 h"),
    ] as [(Int64, String)])
  func spans(_ span: Int64, _ text: String) {
    #expect(DurationFormatter.text(milliseconds: span) == text)
  }

  @Test("RPL-5 a word that is neither a reason nor a code is refused")
  func reasons() throws {
    for word in ["whatever", "because"] {
      let run = ToolRun.inProcess(["timeline", kept("refused"), "--reason", word, "--json"])
      #expect(run.code == 64)
      #expect(try run.error()["name"] as? String == "badReason")
    }
    for word in ["invalid_grant", "refresh_token_already_used", "TOKEN_X", "AADB2C90129", "a.b"] {
      let run = ToolRun.inProcess(["timeline", kept("refused"), "--reason", word])
      #expect(run.code == 0, "\(word)")
    }
  }

  @Test("RPL-5 a second list or grouping is not dropped silently")
  func twice() throws {
    for arguments in [
      ["stats", kept("refused"), "--by", "version", "--by", "cause"],
      ["timeline", kept("refused"), "--kind", "login", "--kind", "logout"],
      ["timeline", kept("refused"), "--reason", "TOKEN_X", "--reason", "TOKEN_Y"],
    ] {
      let run = ToolRun.inProcess(arguments + ["--json"])
      #expect(run.code == 64)
      #expect(try run.error()["name"] as? String == "conflict")
    }
    let same = ["stats", kept("refused"), "--by", "day", "--by", "day"]
    #expect(ToolRun.inProcess(same).code == 0)
  }

  @Test("RPL-5 help kinds counts the existing classes, and help selectors names zones")
  func help() {
    let kinds = ToolRun.inProcess(["help", "kinds"]).output
    #expect(kinds.contains("  event note change account snapshot unknown login"))
    #expect(kinds.contains("The first 6 are classes."))
    let selectors = ToolRun.inProcess(["help", "selectors"]).output
    #expect(selectors.contains("Days and times without a\nzone are in UTC, or with --local in"))
    let times = ["00:01:05", "00:01:05Z", "00:01:05-01:00", "00:01:05+01:00"]
    let counts = times.map { time in
      ToolRun.inProcess(["timeline", kept("refused"), "--until", "2026-01-01T\(time)"])
        .output.split(separator: "\n").count
    }
    #expect(counts == [2, 2, 7, 0])
  }

  @Test("RPL-4 a report of too many journals sums all and shows those with the newest ends")
  func manyJournals() throws {
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: kept("refused"))))
    let records = try Journals.frames(bytes).count
    // By name these come last; they also ended last.
    for number in 0..<205 {
      try SampleJournal.write(
        to: folder.file("j\(1000 + number).journal"),
        batches: [
          SampleJournal.batches[1],
          (Int64(number) * 1_000 + 1_000, [.event(.logout(.init(reason: .user)))]),
        ])
    }
    _ = try folder.write(bytes, to: "zz.journal")
    let page = ToolRun.inProcess(["report", folder.path, "-o", "-"]).output
    #expect(page.contains("206 journals · \(205 * 2 + records) records"))
    #expect(page.contains("106 journals counted and not drawn"))
    #expect(page.contains("106 ends counted and not explained here"))
    #expect(page.contains("j1204.journal") && page.contains("j1110.journal"))
    #expect(!page.contains("j1100.journal"))
  }
}
