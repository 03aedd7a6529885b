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
}
