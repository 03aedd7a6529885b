@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("The inputs that wait in an engine")
struct InboxTests {
  @Test("SCL-2 REF-3 inputs leave in the order of an array, whichever of them was put first")
  func order() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var inbox = Inbox()
      var model: [Int64] = []
      for number in 0..<80 as Range<Int64> {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
          inbox.putFirst((.used(number), nil))
          model.insert(number, at: 0)
        case 1, 2:
          inbox.append((.used(number), "\(number)"))
          model.append(number)
        default:
          let entry = inbox.takeFirst()
          #expect(entry?.input == model.first.map { .used($0) })
          if !model.isEmpty { model.removeFirst() }
        }
        #expect(inbox.isEmpty == model.isEmpty)
      }
      while let entry = inbox.takeFirst() { #expect(entry.input == .used(model.removeFirst())) }
      #expect(model.isEmpty)
    }
  }

  @Test("SCL-2 a rare value is a value: a copy keeps its own")
  func rare() {
    var credentials = HeldCredentials()
    #expect(credentials.loginToRollBack == nil && credentials.unjournaled == nil)
    let facts = TokenMetadata.plain(1, issuedAt: Timestamp(milliseconds: 0), lifetime: .seconds(1))
    let login = SessionEvent.Login(user: "u", method: .interactive, token: facts, context: nil)
    let token = StoredToken(
      journal: "j", facts: facts, access: Secret("A1"), refresh: nil, announcement: .login(login),
      at: Timestamp(milliseconds: 0))
    credentials.loginToRollBack = token
    var copy = credentials
    copy.loginToRollBack = nil
    #expect(credentials.loginToRollBack?.generation == Generation(1))
    #expect(copy.loginToRollBack == nil)
  }
}
