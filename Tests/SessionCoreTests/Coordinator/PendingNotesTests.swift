import Testing

@_spi(Internals) @testable import SessionCore

/// The notes that wait for a batch, transition by transition.
@Suite("The machine PendingNotes")
struct PendingNotesTests {
  private let opened = SessionNote.localDataCleared
  private let ending = SessionNote.answerUnused(4)

  @Test("RES-6 opening: its notes go with the next batch, once")
  func opening() {
    var notes = PendingNotes()
    notes.opened([opened])
    notes.postpone([.itemUnreadable(.token)])
    #expect(notes.forNextBatch(at: 0) == [opened, .itemUnreadable(.token)])
    notes.journaled()
    #expect(notes == PendingNotes())
  }

  @Test("RES-6 opening: a continuation that another process noted is not noted again")
  func continued() {
    var notes = PendingNotes()
    let link = SessionNote.Continued(journal: nil, sequence: 0, cause: .lost)
    notes.opened([.continued(link), opened])
    notes.continuationNoted()
    #expect(notes.forNextBatch(at: 0) == [opened])
  }

  @Test("STO-5 the secret store's failures go with the next batch, after those of the opening")
  func storage() {
    var notes = PendingNotes()
    notes.opened([opened])
    let failure = StorageReport.Failure(.failed)
    notes.take(
      StorageReport(item: .token, operation: .write, failure: failure), at: 0)
    #expect(notes.forNextBatch(at: 0).count == 2 && notes.forNextBatch(at: 0).first == opened)
    notes.journaled()
    #expect(notes.forNextBatch(at: 0).isEmpty)
  }

  @Test("RPL-6 ending: the ends of requests wait for their own batch")
  func endings() {
    var notes = PendingNotes()
    notes.add(ending: ending)
    notes.journaled()
    #expect(notes.endings == [ending] && notes.forNextBatch(at: 0).isEmpty)
    #expect(notes.takeEndings() == [ending])
    #expect(notes.endings.isEmpty)
  }

  @Test(
    "REF-8 a skew is noted if it differs by more than half a minute from the last one",
    arguments: [
      (0, 30_000, nil), (0, 30_001, 30_001), (0, -30_001, -30_001), (60_000, 90_000, nil),
      (60_000, 29_999, 29_999), (60_000, 0, 0),
    ] as [(Int64, Int64, Int64?)])
  func skew(last: Int64, now: Int64, noted: Int64?) {
    var notes = PendingNotes()
    notes.noted(skew: last)
    let server = Timestamp(milliseconds: 1_000_000)
    #expect(notes.newSkew(of: server, at: server.advanced(by: now)) == noted)
    #expect(notes.newSkew(of: nil, at: server) == nil)
  }
}
