@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import Testing

@Suite("When a process is gone")
struct ProcessIdentityTests {
  private static let (own, other): (Identifier, Identifier) = ("own", "other")
  private static let file: Identifier = "8-1"

  /// The value that a cell means; `nil` for unknown.
  private func known(_ cell: String?) throws -> Identifier? {
    switch cell {
    case "same": Self.own
    case "other": Self.other
    case "unknown": nil
    default: throw BadCell(text: "\(cell ?? "nothing")")
    }
  }

  private struct BadCell: Error {
    let text: String
  }

  private func evidence(_ row: [String: String], _ holder: inout ProcessIdentity) throws
    -> ProcessEvidence
  {
    holder = ProcessIdentity(
      opening: "o", boot: try known(row["boot"]), namespace: try known(row["namespace"]),
      start: row["start"] == "unknown" ? 0 : 7, lock: row["lock"] == "none" ? nil : Self.file)
    var evidence = ProcessEvidence(boot: Self.own, namespace: Self.own)
    switch row["lock"] {
    case "free": evidence.lock = (Self.file, .free)
    case "held": evidence.lock = (Self.file, .held)
    case "elsewhere": evidence.lock = ("8-2", .free)
    // The observer may find a file even if the holder has no lock in it.
    case "none": evidence.lock = (Self.file, .free)
    case "unasked": break
    default: throw BadCell(text: row["lock"] ?? "nothing")
    }
    switch row["number"] {
    case "unused": evidence.number = .unused
    case "used": evidence.number = .used(start: row["start"] == "other" ? 8 : 7)
    case "unasked": break
    default: throw BadCell(text: row["number"] ?? "nothing")
    }
    return evidence
  }

  @Test(
    "REF-9 RES-7 another process is gone or alive only if that is proven, as the table of FaultModel.md says"
  )
  func table() throws {
    let rows = try SpecFile("Specs/FaultModel.md").table(under: "When a process is gone")
    #expect(rows.count >= 20)
    for row in rows {
      var holder = ProcessIdentity(opening: "o")
      let evidence = try evidence(row, &holder)
      #expect(evidence.provesGone(holder) == (row["gone"] == "yes"), "\(row)")
      #expect(evidence.provesAlive(holder) == (row["alive"] == "yes"), "\(row)")
    }
  }

  @Test("REF-9 an observer without its own identity proves nothing")
  func unknownObserver() {
    let holder = ProcessIdentity(opening: "o", start: 7, lock: Self.file)
    var evidence = ProcessEvidence()
    evidence.lock = (Self.file, .free)
    evidence.number = .unused
    #expect(!evidence.provesGone(holder))
    evidence.boot = Self.own
    #expect(!evidence.provesGone(ProcessIdentity(opening: "o")))
    (evidence.lock, evidence.number) = ((Self.file, .held), .used(start: 7))
    #expect(!evidence.provesAlive(ProcessIdentity(opening: "o")))
  }

  @Test("REF-9 equal process numbers mean one process only with the same namespace and start")
  func sameProcess() {
    let one = ProcessIdentity(opening: "a", boot: "b", namespace: "n", start: 7)
    #expect(one.isSameProcess(1, as: .init(opening: "c", boot: "b", namespace: "n", start: 7), 1))
    for other in [
      ProcessIdentity(opening: "c", boot: "x", namespace: "n", start: 7),
      .init(opening: "c", boot: "b", namespace: "x", start: 7),
      .init(opening: "c", boot: "b", namespace: "n", start: 8),
      .init(opening: "c", boot: "b", namespace: "n"), .init(opening: "c", boot: "b", start: 7),
    ] {
      #expect(!one.isSameProcess(1, as: other, 1), "\(other)")
    }
    #expect(!one.isSameProcess(1, as: one, 2))
    let unknown = ProcessIdentity(opening: "a")
    #expect(!unknown.isSameProcess(1, as: unknown, 1))
  }

  @Test("REF-9 an identity in a change log is decoded, and other senders have none")
  func spelling() {
    for identity in [SampleRecords.identity, ProcessIdentity(opening: "opening-2")] {
      #expect(ProcessIdentity(spelling: identity.spelling) == identity)
    }
    for text in ["", "s", "opening", "opening;;;;;", "opening;a;b;c;d;e", "opening;a;;;;;"] {
      #expect(ProcessIdentity(spelling: text) == nil, "\(text)")
    }
  }

  @Test("REF-9 the hold of a logout names its process and lasts unless that is proven gone")
  func holds() throws {
    let time = Timestamp(milliseconds: 10)
    let until = Timestamp(milliseconds: 100)
    let (one, two) = (
      ProcessIdentity(opening: "1", boot: "b"), ProcessIdentity(opening: "2", boot: "b")
    )
    var queue = ChangeQueue()
    func apply(_ events: [ChangeEvent]) throws {
      for event in events { try queue.apply(event, at: time) }
    }
    func isHeld(whereGone gone: ProcessIdentity?) -> Bool {
      queue.isLeaving("j", at: time) { holder, _ in holder == gone } != nil
    }
    try apply(ChangeEvent.PendingLogout.records("j", by: one, process: 1, until: until))
    #expect(isHeld(whereGone: two) && !isHeld(whereGone: one))
    // The same through a snapshot.
    let payload = ChangeCodec.encode(queue, at: time)
    let read = try ChangeCodec.decode(sequence: 1, kind: 0x7F, payload: payload)
    #expect(read?.content == .snapshot(queue))
    try apply([.leaving(.init(journal: "k", process: 1, until: until))])
    #expect(queue.isLeaving("k", at: time) { _, _ in true } == until, "it names no holder")
    try apply([.signInEnded(.init(journal: "j", generation: Generation(1)))])
    #expect(queue.leaving.map(\.leaving.journal) == ["k"])
  }

  @Test("OUT-3 two logouts of one session are one in a snapshot, which reads back")
  func twoHolds() throws {
    var queue = ChangeQueue()
    let time = Timestamp(milliseconds: 10)
    for (process, until): (UInt32, Int64) in [(1, 100), (2, 120), (3, 110)] {
      let until = Timestamp(milliseconds: until)
      try queue.apply(.leaving(.init(journal: "j", process: process, until: until)), at: time)
    }
    let payload = ChangeCodec.encode(queue, at: time)
    guard
      case .snapshot(let read)? = try ChangeCodec.decode(
        sequence: 1, kind: 0x7F, payload: payload)?.content
    else {
      Issue.record("no snapshot")
      return
    }
    #expect(read.leaving.map(\.leaving.process) == [2])
  }
}
