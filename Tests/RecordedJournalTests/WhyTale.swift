@_spi(Internals) import SessionCore
import SessionTestKit

@testable import ReplayCommands
@testable import SessionExplain

/// A history of two processes that take requests from each other, and what truly happened in it.
///
/// The clock is set, the tail may be cut, and records are written as a session writes them.
///
/// Times are seconds by a clock that never jumps; the civil time is that and ``offset``.
struct WhyTale {
  /// A request and its outcome.
  struct Request {
    let process: UInt32
    let generation: UInt64
    let sent: Int64
    /// Its process named it after another one had presumed it lost.
    var cameBack = false
    /// Its process opened the journal again, or closed it, before it was replaced.
    var endedBefore = false
  }

  /// An end of a request other than a lost reply, if it is noted.
  struct Noted {
    let sequence: UInt64
    let request: UInt64
    let generation: UInt64
    let failure: RequestFailure
    /// When the server answered it.
    let given: Int64
  }

  let choices: Choices
  private(set) var history = WhyHistory.empty
  private(set) var requests: [UInt64: Request] = [:]
  private(set) var noted: [Noted] = []
  /// The time at which each token arrived.
  private(set) var tokens: [(sequence: UInt64, generation: UInt64)] = []
  /// The offset of the civil clock at each opening.
  private(set) var offsets: [UInt64: Int64] = [:]
  /// The decision that came with an end of a session.
  private(set) var decided: Set<UInt64> = []
  /// The records after which the session had truly ended without a record of it; to the next login.
  private(set) var endedUnseen: [ClosedRange<UInt64>] = []

  private var now: Int64 = 0
  private var offset: Int64 = 0
  private var generation: UInt64 = 0
  private var isSignedIn = false

  init(_ choices: Choices) { self.choices = choices }

  private var civil: Int64 { now + offset }
  var last: UInt64 { history.run.entries.last?.record.sequence ?? 0 }

  mutating func live() {
    open(100)
    for _ in 0..<choices.draw(in: 1...10) {
      now += Int64(choices.draw(in: 1...90))
      if isSignedIn { step() } else { signIn() }
    }
  }

  // MARK: Steps

  private mutating func step() {
    switch choices.draw(below: 10) {
    case 0: setClock()
    case 1: open(choices.chance(1, in: 2) ? 100 : 200, cuts: true)
    case 2: end([.event(.logout(.init(reason: .user)))])
    case 3: expire()
    case 4, 5: takeAtOpening()
    case 6, 7: takeAtDeadline()
    default: finish(send(by: 100))
    }
  }

  private mutating func signIn() {
    choices.step("sign in")
    generation += 1
    tokens.append((history.add(civil, .login(generation, at: civil)), generation))
    isSignedIn = true
  }

  private mutating func setClock() {
    // Less than a minute does not count as a jump and is not shown.
    let span = Int64(choices.draw(in: choices.chance(1, in: 4) ? 1...59 : 120...6_000))
    let signed = choices.chance(2, in: 3) ? -span : span
    choices.step("the clock is set by \(signed) s")
    offset += signed
  }

  private mutating func open(_ process: UInt32, cuts: Bool = false, taking lost: UInt64? = nil) {
    let boot: Identifier? = choices.chance(1, in: 4) ? nil : "first"
    choices.step(
      "\(process) opens, its start of the system is \(boot == nil ? "not named" : "named")")
    var batch: [SessionRecord.Content] = [.opened(process, at: now, boot: boot)]
    let isCut = cuts && choices.chance(1, in: 2)
    if isCut { batch.append(.cut) }
    if let lost { batch.append(.failed(.lost, of: generation, lost, retry: civil)) }
    let first = history.add(civil, batch)
    offsets[first] = offset
    if isCut, choices.chance(1, in: 2) {
      choices.step("the tail held a logout")
      endedUnseen.append(first...first)
    }
  }

  private mutating func expire() {
    choices.step("a secret is missing, or the token is over")
    let isLong = choices.chance(1, in: 2)
    if isLong { now += 3_700 }
    end([.event(.sessionExpired(.init(reason: isLong ? .tokenExpired : .secretsMissing)))])
  }

  // MARK: Requests

  private mutating func send(by process: UInt32, in batch: [SessionRecord.Content] = []) -> UInt64 {
    let contents = batch + [.sent(generation, by: process, until: civil + 6)]
    let number = history.add(civil, contents) + UInt64(batch.count)
    choices.step("@\(number) is sent by \(process)")
    requests[number] = Request(process: process, generation: generation, sent: now)
    return number
  }

  private func drawFailure() -> RequestFailure {
    switch choices.draw(below: 6) {
    case 0: .offline
    case 1: .lost
    case 2: RequestFailure(kind: .server, status: 503)
    case 3: RequestFailure(kind: .rateLimited, status: 429)
    case 4: .refusal("TOKEN_REVOKED")
    default: .refusal("TOKEN_REUSED")
    }
  }

  private mutating func note(
    _ failure: RequestFailure, _ request: UInt64, at sequence: UInt64, given: Int64
  ) {
    guard failure.kind != .noReply else { return }
    noted.append(
      Noted(
        sequence: sequence, request: request, generation: generation, failure: failure, given: given
      ))
  }

  /// The request ends in its own process.
  private mutating func finish(_ request: UInt64) {
    now += Int64(choices.draw(in: 0...4))
    guard !choices.chance(1, in: 6) else { return succeed(request) }
    let failure = drawFailure()
    choices.step("@\(request) ends: \(FailureFormatter.text(failure))")
    let isFinal = failure.kind.isFinal && !choices.chance(1, in: 3)
    if isFinal || (failure.kind.isAnswered && choices.chance(1, in: 3)) {
      let padding = choices.chance(1, in: 4) ? choices.draw(in: 0...24) : 0
      note(failure, request, at: last + 1 + UInt64(padding), given: now)
      var batch = [SessionRecord.Content](repeating: .note(.closed), count: padding)
      batch.append(.failed(failure, of: generation, request))
      batch += [SessionRecord.Content](repeating: .note(.closed), count: padding > 0 ? 24 : 0)
      batch.append(
        .event(.sessionExpired(.init(reason: isFinal ? .refreshRejected : .attemptsExhausted))))
      return end(batch + [.event(.logout(.init(reason: .policy)))])
    }
    let retry = choices.chance(1, in: 8) ? nil : civil + 10
    let place = history.add(civil, .failed(failure, of: generation, request, retry: retry))
    note(failure, request, at: place, given: now)
  }

  private mutating func succeed(_ request: UInt64) {
    choices.step("@\(request) succeeds")
    generation += 1
    let place = history.add(civil, .succeeded(generation, at: civil, request))
    tokens.append((place, generation))
  }

  private mutating func end(_ batch: [SessionRecord.Content]) {
    choices.step("the session ends")
    var batch = batch
    let count = UInt64(batch.count)
    isSignedIn = choices.chance(1, in: 4)
    if isSignedIn {
      generation += 1
      batch.append(.login(generation, at: civil))
    }
    let first = history.add(civil, batch)
    decided.formUnion(first..<first + count)
    if isSignedIn { tokens.append((first + count, generation)) }
  }

  /// Another process replaces one that has not noted its end, after its lease.
  private mutating func takeAtDeadline() {
    let lost = send(by: 100)
    let given = now + Int64(choices.draw(in: 0...6))
    now += 1
    switch choices.draw(below: 6) {
    case 0:
      open(100)
      requests[lost]?.endedBefore = true
    case 1:
      choices.step("100 closes")
      history.add(civil, .note(.closed))
      requests[lost]?.endedBefore = true
    case 2: setClock()
    default: break
    }
    now += 6
    let taken = send(by: 200, in: [.failed(.lost, of: generation, lost, retry: civil)])
    comeBack(lost, given)
    finish(taken)
  }

  /// Another process opens the journal and presumes the request lost.
  private mutating func takeAtOpening() {
    let lost = send(by: 100)
    let given = now + Int64(choices.draw(in: 0...3))
    now += Int64(choices.draw(in: 1...10))
    if choices.chance(1, in: 4) { setClock() }
    open(200, taking: lost)
    let taken = send(by: 200)
    comeBack(lost, given)
    finish(taken)
  }

  private mutating func comeBack(_ lost: UInt64, _ given: Int64) {
    guard requests[lost]?.endedBefore != true, choices.chance(1, in: 2) else { return }
    now += 1
    let failure = drawFailure()
    choices.step("100 comes back with @\(lost): \(FailureFormatter.text(failure))")
    let place = history.add(civil, .ended(lost, failure))
    requests[lost]?.cameBack = true
    note(failure, lost, at: place, given: given)
  }
}
