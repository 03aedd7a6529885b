@_spi(Internals) internal import SessionCore

/// The events of one session store, a million in a full run; the same seed gives the same events.
///
/// A thousand users log in and out one after the other, in random order, so that every event is
/// legal. The events are 10 % login, 60 % refreshSucceeded, 20 % contextSwitched and 10 % logout.
struct Workload {
  static let seed: UInt64 = 20_261_121

  private static let userCount = 1000
  private static let permissions = [
    "attendance:read", "attendance:write", "classes:manage", "grades:read", "grades:write",
    "materials:read", "materials:write", "messages:send", "reports:export", "reports:read",
    "schedule:read", "users:manage",
  ]

  private var random = SplitMix(state: Workload.seed)
  private let users: [Identifier]
  private let roles: [ActiveContext.Named]
  private var time: Int64 = 1_767_225_600_000
  private var generation: UInt64 = 0
  private var sequence: UInt64 = 0
  private var isSignedIn = false

  init() {
    var random = random
    users = (0..<Self.userCount).map { _ in Self.uuid(&random) }
    roles = ["student", "teacher", "coordinator", "administrator"].map {
      ActiveContext.Named(id: Self.uuid(&random), name: $0)
    }
    self.random = random
  }

  /// Returns the first `count` records.
  static func records(_ count: Int) -> [SessionRecord] {
    var workload = Workload()
    return (0..<count).map { _ in workload.next() }
  }

  /// Returns the next record.
  mutating func next() -> SessionRecord {
    sequence += 1
    time += Int64(random.next(below: 60_000))
    return SessionRecord(
      sequence: sequence, time: Timestamp(milliseconds: time), content: .event(nextEvent()))
  }

  private mutating func nextEvent() -> SessionEvent {
    guard isSignedIn else {
      isSignedIn = true
      return .login(
        SessionEvent.Login(
          user: users[random.next(below: users.count)], method: .password, token: token(),
          context: context()))
    }
    // There are eight events between login and logout on average, and three refreshes per context
    // switch.
    guard random.next(below: 9) > 0 else {
      isSignedIn = false
      return .logout(SessionEvent.Logout(reason: .user))
    }
    guard random.next(below: 4) > 0 else {
      return .contextSwitched(
        SessionEvent.ContextSwitched(
          context: context(), token: token(), trigger: .user, request: 0))
    }
    return .refreshSucceeded(
      SessionEvent.RefreshSucceeded(
        token: token(), trigger: .schedule, attempt: 1, isRotated: true, request: 0))
  }

  private mutating func token() -> TokenMetadata {
    generation += 1
    return TokenMetadata(
      generation: Generation(generation), issuedAt: Timestamp(milliseconds: time),
      expiresAt: Timestamp(milliseconds: time + 3_600_000), id: Self.uuid(&random),
      isRefreshable: true)
  }

  private mutating func context() -> ActiveContext {
    let shuffled = Self.permissions.shuffled(using: &random)
    return ActiveContext(
      role: roles[random.next(below: roles.count)],
      permissions: Array(shuffled.prefix(2 + random.next(below: 5))))
  }

  private static func uuid(_ random: inout SplitMix) -> Identifier {
    Identifier(uuidHigh: random.next(), low: random.next())
  }
}

/// A random number generator with the same numbers for a seed on every platform: SplitMix64.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number below `bound`.
  mutating func next(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }
}
