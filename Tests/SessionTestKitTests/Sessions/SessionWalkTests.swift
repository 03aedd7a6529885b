@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("TST-1: a session that follows draws")
struct SessionWalkTests {
  @Test("TST-1: every event of a walk is legal, and walks together reach every legal row")
  func legal() {
    expect(
      Property(
        "a walk meets every legal row", requiredLabels: TransitionRow.legal.map(\.label)
      ).check { choices in
        var walk = SessionWalk()
        while choices.chance(15, in: 16) {
          let before = walk.events.count
          let event = walk.step(choices)
          try choices.require(
            walk.events.count == before + 1 && walk.events.last?.event == event,
            "\(event.kind) did not happen")
          let disagreement = walk.model.disagreement(with: walk.fold)
          try choices.require(disagreement == nil, disagreement ?? "")
        }
      })
  }

  @Test("TST-1: an illegal event changes nothing and reports its reason")
  func rejected() {
    var walk = SessionWalk()
    #expect(walk.take(.expired(.inactivity))?.reason == .notAuthenticated)
    #expect(walk.events.isEmpty && walk.state == .unauthenticated)
    #expect(walk.take(.login(as: "ada")) == nil)
    #expect(walk.take(.login(as: "bob", token: 2))?.reason == .alreadyAuthenticated)
    #expect(walk.events.map(\.sequence) == [1])
  }

  @Test("TST-1: the model decides which rows are legal, and near events reach both kinds")
  func rows() {
    var seen: Set<TransitionRow> = []
    var rowless = 0
    for seed in 0..<2_000 as Range<UInt64> {
      let choices = Choices(seed: seed)
      var walk = SessionWalk()
      for _ in 0..<choices.draw(in: 0...3) { walk.step(choices) }
      let event = choices.nearEvent(after: walk.model)
      let objection = walk.model.objection(to: event)
      guard let row = TransitionRow(event, after: walk.model) else {
        #expect(objection == .staleGeneration)
        rowless += 1
        continue
      }
      seen.insert(row)
      #expect(row.isLegal == (objection == nil), "\(row)")
      #expect(row.isLegal == (walk.take(event) == nil), "\(row)")
    }
    #expect(seen.isSubset(of: TransitionRow.all))
    #expect(seen.count == TransitionRow.all.count)
    #expect(rowless > 0)
    // A rejection because of a token is not a row that a property can require.
    #expect(TransitionRow(.login(as: "ada", token: 0), after: SessionModel()) == nil)
    #expect(TransitionRow.all.count == 23 && TransitionRow.legal.count == 9)
  }
}
