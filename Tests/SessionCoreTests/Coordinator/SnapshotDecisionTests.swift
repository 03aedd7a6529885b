@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: another process compacted the journal")
struct SnapshotDecisionTests {
  private func record(_ fold: SessionFold) -> SessionRecord {
    SessionRecord(
      sequence: fold.sequence, time: SampleRecords.time, content: .snapshot(fold))
  }

  private func fold(_ contents: [SessionRecord.Content], at time: Timestamp) throws -> SessionFold {
    try zip(UInt64(1)..., contents).reduce(into: SessionFold()) {
      try $0.apply(SessionRecord(sequence: $1.0, time: time, content: $1.1))
    }
  }

  private static let login = SessionRecord.Content.event(SampleRecords.events[0])

  private func coordinator(_ fold: SessionFold) -> SessionCoordinator {
    var coordinator = SessionCoordinator(policy: PolicyFigures(.standard), fold: fold)
    var facts = StoredItemsReport()
    (facts.token, facts.generation) = (.present, fold.generation)
    _ = coordinator.handle(.opened(facts), at: ClockReading(time: SampleRecords.time, uptime: 0))
    return coordinator
  }

  private let now = ClockReading(time: SampleRecords.time, uptime: 0)

  @Test(
    "JRN-4 STA-7 a snapshot replaces the fold, and subscribers learn which events they missed")
  func replaced() throws {
    let start = try fold([Self.login], at: SampleRecords.time)
    let ahead = try fold(
      [Self.login, .event(SampleRecords.events[2]), .note(.closed)], at: SampleRecords.time)
    var coordinator = coordinator(start)
    let after = SessionRecord(
      sequence: 4, time: SampleRecords.time, content: .event(SampleRecords.events[6]))
    let effects = coordinator.handle(
      .observed([record(ahead), after], isHolderGone: false), at: now)
    #expect(coordinator.fold.sequence == 4)
    #expect(coordinator.state.token?.generation == Generation(2))
    let told = effects.filter {
      switch $0 {
      case .skip, .publish: true
      default: false
      }
    }
    #expect(
      told == [
        .skip(through: 3),
        .publish([
          RecordedEvent(sequence: 4, time: SampleRecords.time, event: SampleRecords.events[6])
        ]),
      ])
    #expect(effects.contains(.reloadToken(Generation(2))))
  }

  @Test("JRN-4 a snapshot without a new event results in no gap")
  func notesOnly() throws {
    let start = try fold([Self.login], at: SampleRecords.time)
    let ahead = try fold([Self.login, .note(.closed)], at: SampleRecords.time)
    var coordinator = coordinator(start)
    let effects = coordinator.handle(.observed([record(ahead)], isHolderGone: false), at: now)
    #expect(coordinator.fold == ahead)
    #expect(!effects.contains(.skip(through: 2)))
  }

  @Test("JRN-4 a waiting caller receives the end of a session that a snapshot contains")
  func ended() throws {
    let start = try fold([Self.login], at: SampleRecords.time)
    let events: [SessionEvent] = [
      SampleRecords.events[0], .logout(.init(reason: .user)),
      .login(.init(user: SampleRecords.user, method: .password, token: SampleRecords.token(2))),
    ]
    let other = try fold(events.map { .event($0) }, at: SampleRecords.time.advanced(by: 1))
    var coordinator = coordinator(start)
    let sent = coordinator.handle(.refresh(Caller(1), .manual, .always), at: now)
    guard case .commit? = sent.last else {
      Issue.record("no commit: \(sent)")
      return
    }
    let effects = coordinator.handle(.conflicted([record(other)]), at: now)
    #expect(
      effects.contains(.resume(Caller(1), .failed(.ended(.unauthenticated, by: nil)))),
      "\(effects)")
    #expect(coordinator.state.token?.generation == Generation(2))
  }

  @Test("JRN-4 a snapshot that contradicts the fold stops the session and changes nothing")
  func contradiction() throws {
    let start = try fold([Self.login, .event(SampleRecords.events[2])], at: SampleRecords.time)
    let behind = try fold([Self.login], at: SampleRecords.time)
    var coordinator = coordinator(start)
    _ = coordinator.handle(.observed([record(behind)], isHolderGone: false), at: now)
    #expect(coordinator.fold == start)
    let effects = coordinator.handle(.refresh(Caller(1), .manual, .always), at: now)
    #expect(
      effects == [.resume(Caller(1), .failed(.unusableJournal(.contradiction(sequence: 1))))])
  }
}
