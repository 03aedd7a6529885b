import Testing

@_spi(Internals) @testable import SessionCore

/// The machine of late responses, transition by transition.
@Suite("The machine LateResponses")
struct LateResponsesTests {
  private let one = RequestNumber(1)
  private let two = RequestNumber(2)

  @Test("OUT-4 a request of which nothing is known has no fate")
  func unknown() {
    var machine = LateResponses()
    #expect(!machine.isSpared(one))
    let fate = machine.end(one)
    #expect(!fate.isAbandoned && !fate.isSpared && fate.intent == nil)
    #expect(machine == LateResponses())
  }

  @Test("OUT-4 abandoned: the tokens are revoked once, and the request is forgotten")
  func abandoned() {
    var machine = LateResponses()
    machine.abandon(one)
    #expect(!machine.end(two).isAbandoned)
    #expect(machine.end(one).isAbandoned)
    #expect(!machine.end(one).isAbandoned)
    #expect(machine == LateResponses())
  }

  @Test("RPL-6 superseded: the intent is known when the response arrives")
  func superseded() {
    var machine = LateResponses()
    machine.supersede(one, intent: 41)
    #expect(!machine.isSpared(one))
    #expect(machine.end(one).intent == 41)
    #expect(machine.end(one).intent == nil)
  }

  @Test("OUT-7 a logout of this device spares superseded requests, and no abandoned login")
  func spared() {
    var machine = LateResponses()
    machine.supersede(one, intent: 41)
    machine.abandon(two)
    machine.spareSuperseded()
    #expect(machine.isSpared(one) && !machine.isSpared(two))
    let fate = machine.end(one)
    #expect(fate.isSpared && fate.intent == 41)
    #expect(!machine.isSpared(one))
  }

  @Test("LOG-9 OUT-4 an adopted request is spared, however often its response arrives")
  func adopted() {
    var machine = LateResponses()
    machine.adopt(one)
    machine.abandon(one)
    #expect(machine.isSpared(one) && !machine.isSpared(two))
    let fate = machine.end(one)
    #expect(fate.isAbandoned && fate.isSpared)
    #expect(machine.isSpared(one) && machine.end(one).isSpared)
  }

  @Test("OUT-7 a request that was open at a logout of this device is spared once")
  func sparedOnce() {
    var machine = LateResponses()
    machine.spare(one)
    #expect(machine.end(one).isSpared)
    #expect(!machine.end(one).isSpared && !machine.isSpared(one))
  }
}
