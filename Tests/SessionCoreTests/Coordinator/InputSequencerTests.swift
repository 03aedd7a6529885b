import Testing

@_spi(Internals) @testable import SessionCore

/// The machine that orders inputs, transition by transition.
@Suite("The machine InputSequencer")
struct InputSequencerTests {
  private static let now = ClockReading(time: Timestamp(milliseconds: 0), uptime: 0)
  private let commit = PendingCommit(purpose: .note, contents: [], moment: now, request: nil)
  private let read = ReadBarrier(question: nil, asked: 0)
  private let command = SessionInput.clearError
  private let other = SessionInput.fired(.refresh)
  private let committed = SessionInput.committed(firstSequence: 1)

  @Test("deciding: each input is decided at once, and none waits")
  func deciding() {
    var machine = InputSequencer()
    #expect(machine.isDeciding && machine.commit == nil && machine.read == nil)
    for input in [command, other, committed, .unobserved] {
      #expect(machine.admits(input) == true)
    }
    #expect(machine.next() == nil)
    #expect(machine.endCommit() == nil && machine.endRead() == nil)
  }

  @Test("committing: only the end of the commit is decided; other inputs wait in order")
  func committing() {
    var machine = InputSequencer()
    machine.begin(commit)
    #expect(!machine.isDeciding && machine.commit == commit)
    #expect(!machine.admits(command) && !machine.admits(.unobserved) && !machine.admits(other))
    #expect(machine.next() == nil)
    #expect(machine.endRead() == nil)
    #expect(machine.admits(committed) == true)
    #expect(machine.endCommit() == commit)
    #expect(machine.isDeciding)
    #expect(machine.next() == command && machine.next() == .unobserved && machine.next() == other)
    #expect(machine.next() == nil)
  }

  @Test("reading: only the end of the read is decided; other inputs wait in order")
  func reading() {
    var machine = InputSequencer()
    machine.begin(read)
    #expect(!machine.isDeciding && machine.read == read)
    #expect(!machine.admits(command) && !machine.admits(committed))
    #expect(machine.endCommit() == nil)
    #expect(machine.admits(.unobserved) == true)
    #expect(machine.endRead() == read)
    #expect(machine.next() == command && machine.next() == committed)
  }

  @Test("an input that waited may begin a commit; the others go on waiting")
  func oneByOne() {
    var machine = InputSequencer()
    machine.begin(read)
    #expect(!machine.admits(command) && !machine.admits(other))
    _ = machine.endRead()
    #expect(machine.next() == command)
    machine.begin(commit)
    #expect(machine.next() == nil)
    _ = machine.endCommit()
    #expect(machine.next() == other)
  }
}
