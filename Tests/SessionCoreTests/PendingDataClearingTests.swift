@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("The data that a logout leaves to clear")
struct PendingDataClearingTests {
  private func pending(_ contents: SessionRecord.Content...) -> PendingDataClearing {
    var pending = PendingDataClearing()
    for content in contents { pending.take(content) }
    return pending
  }

  private func login(_ user: Identifier, _ generation: UInt64) -> SessionRecord.Content {
    .event(
      .login(
        .init(
          user: user, method: .password,
          token: TokenMetadata(
            generation: Generation(generation), issuedAt: .plainStart, expiresAt: .plainStart,
            isRefreshable: true))))
  }

  private func logout(_ reason: LogoutReason) -> SessionRecord.Content {
    .event(.logout(.init(reason: reason)))
  }

  @Test("SYN-5 only records of logins, logouts and clearings are read")
  func kinds() {
    let read = (UInt8.min...UInt8.max).filter { PendingDataClearing.reads($0) }
    #expect(
      read
        == [
          SessionEvent.Kind.login.rawValue, SessionEvent.Kind.logout.rawValue,
          SessionNote.Kind.localDataCleared.rawValue,
        ].sorted())
  }

  @Test("SYN-5 a logout leaves data to clear until a record says that it was cleared")
  func cleared() {
    let after = pending(login("ada", 3), logout(.user))
    #expect((after.reason, after.user) == (.user, "ada") && after.overtaken == nil)
    let done = pending(login("ada", 3), logout(.user), .note(.localDataCleared))
    #expect(done.reason == nil && done.overtaken == nil)
    #expect(pending(login("ada", 3)).reason == nil)
  }

  @Test("SYN-5 a later login leaves an overtaken clearing of the token before its own")
  func overtaken() {
    let later = pending(login("ada", 3), logout(.policy), login("bob", 5))
    #expect((later.reason, later.user) == (nil, "bob"))
    #expect((later.overtaken?.reason, later.overtaken?.user) == (.policy, "ada"))
    #expect(later.overtaken?.generation == Generation(4))
    #expect(pending(logout(.user), login("bob", 0)).overtaken?.generation == Generation(0))
    #expect(
      pending(logout(.user), login("bob", 5), .note(.localDataCleared)).overtaken == nil)
  }
}
