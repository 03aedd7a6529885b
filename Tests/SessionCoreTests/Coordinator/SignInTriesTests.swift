import Testing

@testable import SessionCore

@Suite("The machine SignInTries")
struct SignInTriesTests {
  @Test("LOG-2 allowed: attempts below the limit are counted")
  func allowed() {
    var machine = SignInTries()
    for time in [0, 10_000, 20_000] as [Int64] {
      #expect(machine.admit(at: time, under: 3) == nil)
    }
    #expect(machine.admit(at: 30_000, under: 3) == 30_000)
  }

  @Test("LOG-2 refused: an attempt waits for the oldest one to be a minute ago, and is not counted")
  func refused() {
    var machine = SignInTries()
    _ = machine.admit(at: 0, under: 2)
    _ = machine.admit(at: 1_000, under: 2)
    #expect(machine.admit(at: 59_999, under: 2) == 1)
    #expect(machine.admit(at: 60_000, under: 2) == nil)
    #expect(machine.admit(at: 60_000, under: 2) == 1_000)
    #expect(machine.admit(at: 61_000, under: 2) == nil)
  }

  @Test("LOG-2 a smaller limit counts the latest attempts")
  func smallerLimit() {
    var machine = SignInTries()
    for time in [0, 10_000, 20_000] as [Int64] { _ = machine.admit(at: time, under: 3) }
    #expect(machine.admit(at: 30_000, under: 1) == 50_000)
  }
}
