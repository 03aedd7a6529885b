import ChildProcesses

#if os(Linux)
  import Foundation
  @_spi(Internals) import SessionCore
  import SessionJournal
  import Testing

  @testable import ReplayCommands
  @testable import SessionExplain

  /// Journals that are too long to be read completely for each screen.
  @Suite("step, on large journals", .timeLimit(.minutes(10)))
  struct StepLargeTests {
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
    }

    private func step(_ arguments: [String]) throws -> PseudoTerminal {
      try PseudoTerminal(try ToolRun.binary(), ["step"] + arguments)
    }

    @Test(
      "RPL-1 step shows the first screen and the end of a million records, and stops a search"
    )
    func million() throws {
      let path = folder.file("million.journal")
      try MillionRecords.write(to: path, records: 1_000_000)
      let terminal = try step([path, "--at", "@1"])
      try terminal.screen("the first screen, before all is read") {
        $0.text.contains("1 of ") && $0.text.contains("+ ")
      }
      terminal.press("G")
      try terminal.shows("1,000,000 of 1,000,000")
      terminal.press("g")
      try terminal.shows("  1 of 1,000,000")
      terminal.press("/no such words\r")
      try terminal.shows("Esc stops")
      terminal.press("\u{1B}")
      try terminal.shows("Stopped")
      terminal.press("e")
      try terminal.screen("an end") { $0.text.contains("logout") && $0.text.contains("1,000 of") }
      terminal.press("q")
      #expect(try terminal.end() == 0)
    }

    /// The maximum memory that a look at a whole journal of this many megabytes took, in KiB.
    private func peak(megabytes: Int) throws -> Int {
      let path = folder.file("\(megabytes).journal")
      try MillionRecords.writeLarge(to: path, megabytes: megabytes)
      let terminal = try step([path, "--at", "@1"])
      try terminal.screen("the first screen") { $0.text.contains("  1 of ") }
      terminal.press("G")
      let total = (megabytes * 128).grouped
      try terminal.shows("\(total) of \(total)")
      terminal.press("E")
      try terminal.shows("logout")
      terminal.press("g/no such words\r")
      try terminal.shows("is in no record")
      terminal.press("w")
      try terminal.shows("why, at @1")
      let peak = try terminal.peakMemory()
      terminal.press("qq")
      #expect(try terminal.end() == 0)
      return peak
    }

    @Test("RPL-5 the memory of step does not grow with the journal")
    func memory() throws {
      let small = try peak(megabytes: 16)
      let large = try peak(megabytes: 64)
      #expect(large < 48 * 1024, "\(large) KiB")
      #expect(large - small < 8 * 1024, "\(small) and \(large) KiB")
    }
  }

  /// Long journals that are quick to write.
  enum MillionRecords {
    /// Records of 8 KiB from a newer version, 128 in a batch, one of them a login and one a logout.
    static func writeLarge(to path: String, megabytes: Int) throws {
      var options = JournalOptions()
      options.room = .none
      let journal = try Journal.open(at: path, options: options)
      let filling = SessionRecord.Content.unknown(
        .init(kind: 0xEE, payload: [UInt8](repeating: 0x5A, count: 8 * 1024 - 48)))
      for batch in 0..<megabytes {
        let token = SampleJournal.token(UInt64(batch + 1), at: Int64(batch))
        let login = SessionRecord.Content.event(
          .login(.init(user: SampleJournal.user, method: .password, token: token)))
        _ = try journal.append(
          (0..<128).map { index in
            let content =
              index == 0 ? login : index == 99 ? .event(.logout(.init(reason: .user))) : filling
            let (kind, payload) = SessionCodec.encode(
              content, at: SampleJournal.start.advanced(by: Int64(batch * 10_000 + index)))
            return JournalDraft(kind: kind, payload: payload)
          })
      }
      try journal.close()
    }

    static func write(to path: String, records: Int) throws {
      var options = JournalOptions()
      options.room = .none
      let journal = try Journal.open(at: path, options: options)
      // Only the logins differ from batch to batch.
      var drafts = (0..<10_000).map { index in
        let isEnd = index % 1_000 == 999
        return draft(
          isEnd ? .event(.logout(.init(reason: .user))) : .note(.clockSkew(Int64(index))), index)
      }
      var token: UInt64 = 0
      for batch in 0..<(records / 10_000) {
        for index in stride(from: 0, to: 10_000, by: 1_000) {
          token += 1
          let grant = SampleJournal.token(token, at: Int64(batch))
          drafts[index] = draft(
            .event(.login(.init(user: SampleJournal.user, method: .password, token: grant))), index)
        }
        _ = try journal.append(drafts)
      }
      try journal.close()
    }

    private static func draft(_ content: SessionRecord.Content, _ index: Int) -> JournalDraft {
      let (kind, payload) = SessionCodec.encode(
        content, at: SampleJournal.start.advanced(by: Int64(index)))
      return JournalDraft(kind: kind, payload: payload)
    }
  }
#endif
