@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Given, when, then")
struct GivenTests {
  @Test("TST-1 STA-6 a true story of the fold passes")
  func fold() throws {
    try given(.login(as: "ada"), .expired(.inactivity))
      .when(.login(as: "bob", token: 2))
      .then(.rejected(.differentUser), .user("ada"), .state(.expired))
    try given(.login(as: "ada", context: .plainTeacher))
      .when(.refreshFailed(.server, of: 1), .refreshFailed(.noReply, of: 1))
      .then(.failures(2), .token(1), .context(.plainTeacher))
    try given().when(.login(as: "ada"), .loggedOut()).then(.user(nil), .token(nil))
  }

  @Test("TST-1 a false story of the fold reports the differences")
  func foldText() {
    let text = """
      Given  login ada by password, tok#1
             sessionExpired inactivity
      When   login bob by password, tok#2
      Then   the user is bob
      But    the user is ada
             login is not possible while expired: the expired session belongs to another user, \
      whose data must be handled first; log out
             the session is expired ada, inactivity
      """
    let error = #expect(throws: UnexpectedOutcome.self) {
      try given(.login(as: "ada"), .expired(.inactivity))
        .when(.login(as: "bob", token: 2))
        .then(.user("bob"))
    }
    #expect(error?.description == text)
  }

  @Test("TST-1 an impossible given state is reported")
  func impossible() {
    let error = #expect(throws: UnexpectedOutcome.self) {
      try given(.loggedOut()).when().then(.user(nil))
    }
    #expect(error?.description.contains("But    the given state is impossible") == true)
  }

  @Test("TST-1 OUT-4 a true story of the coordinator passes")
  func coordinator() throws {
    try given(.bench, .login(as: "ada"))
      .when(.refresh(by: 1), .logout(by: 2), .answered(.token()))
      .then(
        .state(.unauthenticated), .sends(1), .waits(2),
        .journals("requestSent", "logout", "revocationPending"),
        .reply(.failed(.ended(.unauthenticated, by: nil)), to: 1),
        .effect(.discard(RequestNumber(1), revoking: true)))
    try given(.bench, .login(as: "ada"))
      .when(.refresh(by: 1), .failed(.server))
      .then(.timer(.refresh, in: 1_000), .state(.authenticated))
  }

  @Test("TST-1 a false story of the coordinator shows every effect")
  func coordinatorText() {
    let error = #expect(throws: UnexpectedOutcome.self) {
      try given(.bench, .login(as: "ada"))
        .when(.refresh(by: 1), .failed(.rejected))
        .then(.state(.expired), .reply(.refreshed, to: 1))
    }
    let text = error?.description ?? ""
    #expect(text.hasPrefix("Given  policy bench\n       login ada by password, tok#1\nWhen   "))
    #expect(text.contains("\n         → send 1 refresh tok#1\n"))
    #expect(text.contains("Then   the session is expired\n       caller 1 receives refreshed\n"))
    #expect(
      text.contains(
        "But    it is unauthenticated\n       caller 1 receives failed: ended, unauthenticated by rejected\n"
      ))
  }

  @Test("TST-1 steps and wipes are described in words without names of types")
  func words() {
    let error = #expect(throws: UnexpectedOutcome.self) {
      try given(.bench, .login(as: "ada"))
        .when(.refresh(by: 1), .answered(.token()), .logout(by: 2), .after(5))
        .then(.state(.expired))
    }
    let text = error?.description ?? ""
    #expect(text.contains("\n       the request is answered, good for 3600000 ms\n"), "\(text)")
    #expect(text.contains("wipe everything, keeping what revoking tok#2 needs\n"))
    #expect(text.contains("\n       5 ms pass\n"))
    #expect(!text.contains("Optional") && !text.contains("SessionCore."))
  }
}
