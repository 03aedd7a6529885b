import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

/// The one request for a token, transition by transition.
@Suite("The machine TokenRequest")
struct TokenRequestTests {
  private func request(
    _ purpose: TokenRequest.Purpose = .refresh(.schedule, attempt: 1)
  ) -> TokenRequest {
    TokenRequest(number: RequestNumber(4), purpose: purpose, base: Generation(1))
  }

  /// A request whose intent has sequence 9, and which was sent.
  private func sent() -> TokenRequest {
    var machine = request()
    machine.intentDurable(at: 9)
    machine.left()
    return machine
  }

  private func response(arrival uptime: Int64) -> TokenRequest.ReceivedResponse {
    TokenRequest.ReceivedResponse(
      number: RequestNumber(4), facts: .token(),
      moment: ClockReading(time: .plainStart, uptime: uptime))
  }

  @Test("REF-3 intended: it is unsent as soon as its intent is durable")
  func intended() {
    var machine = request()
    #expect(!machine.isUnsent && !machine.hasLeft && !machine.isOnTheWire && machine.intent == 0)
    machine.intentDurable(at: 9)
    #expect(machine.isUnsent && machine.intent == 9)
  }

  @Test("REF-10 held back: before or after the intent, and until the journal was read again")
  func heldBack() {
    var machine = request()
    machine.release()
    #expect(!machine.isHeldBack)
    machine.holdBack()
    machine.intentDurable(at: 9)
    #expect(machine.isHeldBack && machine.isUnsent)
    machine.release()
    #expect(!machine.isHeldBack && machine.isUnsent)
  }

  @Test("REF-10 on the wire: what was sent is neither held back nor released")
  func onTheWire() {
    var machine = sent()
    #expect(machine.isOnTheWire && machine.hasLeft && !machine.isUnsent)
    machine.holdBack()
    #expect(!machine.isHeldBack && machine.isOnTheWire)
    machine.release()
    #expect(machine.hasLeft)
  }

  @Test("REF-3 answered: a second response changes nothing")
  func answered() {
    var machine = sent()
    machine.answered()
    #expect(!machine.isOnTheWire && machine.hasLeft && machine.unjournaled == nil)
    let first = machine
    machine.answered()
    #expect(machine == first)
  }

  @Test(
    "REF-11 unjournaled: the response stays, and a later failure does not hide that it is stored")
  func unjournaled() throws {
    var machine = sent()
    machine.answered()
    machine.keep(
      response(arrival: 5), StorageObstacle(cause: .noRoom, isStored: true), isClosing: false)
    machine.keep(
      response(arrival: 5), StorageObstacle(cause: .refused, isStored: false), isClosing: true)
    let kept = try #require(machine.unjournaled)
    #expect(kept.obstacle == StorageObstacle(cause: .refused, isStored: true))
    #expect(kept.failuresAtClose == 1 && kept.response == response(arrival: 5))
    machine.answered()
    #expect(machine.unjournaled == kept, "the first arrival counts")
    machine.keep(
      response(arrival: 5), StorageObstacle(cause: .refused, isStored: false), isClosing: true)
    #expect(machine.unjournaled?.failuresAtClose == 2)
  }

  @Test("REF-11 CTX-2 the caller of a switch has had its reply once the response is unjournaled")
  func owner() {
    #expect(request().owner == nil && request().isRefresh)
    let caller = Caller(7)
    var machine = request(.switchContext(caller))
    #expect(machine.owner == caller && !machine.isRefresh && !machine.isLogin)
    machine.keep(
      response(arrival: 5), StorageObstacle(cause: .refused, isStored: false), isClosing: false)
    #expect(machine.owner == nil)
    let login = request(.login(caller, .password))
    #expect(login.isLogin && login.isLogin(of: caller) && !login.isLogin(of: Caller(8)))
  }
}
