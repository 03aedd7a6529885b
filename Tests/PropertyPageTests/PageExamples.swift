import Foundation
import SessionCore
import SessionKit
import SessionTestKit
import Testing

/// The short examples of Specs/PropertyTesting.md: each is on the page as it is here, and passes.
@Suite("TST-1 TST-2: the specification's short examples")
struct PageExamples {
  @Test("TST-1: given, when, then: the fold")
  func fold() throws {
    try given(.login(as: "ada"), .expired(.inactivity))
      .when(.login(as: "bob", token: 2))
      .then(.rejected(.differentUser), .user("ada"), .state(.expired))
  }

  @Test("TST-1: generators of sessions")
  func generators() {
    // shown: begins
    let property = Property(
      "folding twice is folding once", requiredLabels: TransitionRow.legal.map(\.label))
    expect(
      property.check { choices in
        var walk = SessionWalk()
        while choices.chance(15, in: 16) { walk.step(choices) }
        let name = Generator.name(choices)  // plain, empty, very long, in any script
        var state = SessionState.unauthenticated
        for event in walk.events { try state.evolve(event.event, at: event.time) }
        try choices.require(state == walk.state, "\(name): \(walk.events)")
      })
    // shown: ends
  }

  @Test("TST-2: a world by script")
  func script() throws {
    // shown: begins
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let secrets = SimulatedSecrets()
    let process = SimulatedDisk().process()
    let configuration = try world.configuration(in: process, secrets: secrets.view(of: process))
    world.server.script(.answerLost, for: .refresh, number: 2)
    let session = try world.run {
      let session = try await Session.open(configuration)
      try await session.login(.sample)
      return session
    }
    try world.run { try await session.refresh() }
    let token = try world.run { try await session.refresh() }  // lost, and tried again
    #expect(token.generation.number == 3)
    #expect(world.server.count(of: .refresh) == 3)
    // shown: ends
  }
}
