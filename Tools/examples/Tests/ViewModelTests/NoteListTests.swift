import SessionKit
import SessionTestKit
import Testing

@testable import viewmodel

/// Drives a session through legal and illegal events, while responses arrive in any order.
@Test("the list is empty whenever no user is logged in, and never another user's")
func emptyWithoutUser() {
  let property = Property(
    "the list is empty whenever no user is logged in", cases: 500,
    requiredLabels: ["a late response", "a response in time"])
  expect(
    property.check { choices in
      var walk = SessionWalk()
      var list = NoteList()
      var asked: [Identifier] = []
      while choices.chance(15, in: 16) {
        switch choices.draw(in: 0...3) {
        case 0: walk.step(choices)
        case 1: walk.take(choices.nearEvent(after: walk.model))
        case 2: if let user = walk.signedIn { asked.append(user) }
        default:
          guard let user = choices.pick(asked) else { continue }
          choices.label(user == walk.signedIn ? "a response in time" : "a late response")
          list = NoteList(notes: ["a note of \(user)"], owner: user)
          choices.step("the notes of \(user) arrive", state: "\(list.shown(in: walk.state))")
        }
        let shown = list.shown(in: walk.state)
        let own = walk.signedIn.map { "a note of \($0)" }
        try choices.require(shown.allSatisfy { $0 == own }, "it shows \(shown)")
      }
    })
}

extension SessionWalk {
  fileprivate var signedIn: Identifier? { state.kind == .authenticated ? state.user : nil }
}
