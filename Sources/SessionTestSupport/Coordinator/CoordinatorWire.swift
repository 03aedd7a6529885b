@_spi(Internals) import SessionCore

/// The requests that left, and what came back.
struct CoordinatorWire: Sendable {
  enum Fate: Hashable, Sendable {
    /// It is on its way.
    case sent
    /// Its answer has come.
    case answered
    /// Its answer has come and could not be journaled yet.
    case held
    /// Its answer is in the journal.
    case journaled
    /// Its answer was given up.
    case discarded
    /// It failed.
    case failed(RequestFailure, jitter: UInt16)
    /// A page, or an attempt without one, has brought nothing.
    case notSignedIn(WebSignInProblem)
  }

  struct Request: Sendable {
    let number: RequestNumber
    let request: SessionEffect.Request
    /// The token that it was made with; for a login, the newest that there had been.
    let base: Generation
    var fate = Fate.sent
    var facts: ResponseMetadata?
    var arrival: Int64 = 0
    /// Whether it asks nobody: the tokens are those of an app's old layer.
    var isAdoption = false
    /// Whether its caller has stopped waiting for it.
    var isAbandoned = false

    var isLogin: Bool {
      if case .login = request { true } else { false }
    }
  }

  private(set) var requests: [Request] = []
  /// How many of them have failed.
  private(set) var failures = 0

  subscript(_ number: RequestNumber) -> Request? {
    requests.first { $0.number == number }
  }

  var outstanding: [Request] { requests.filter { $0.fate == .sent } }

  mutating func send(
    _ number: RequestNumber, _ request: SessionEffect.Request, base: Generation,
    isAdoption: Bool = false
  ) {
    let base =
      switch request {
      case .login: base
      case .refresh(let generation), .switchContext(_, let generation): generation
      }
    requests.append(
      Request(number: number, request: request, base: base, isAdoption: isAdoption))
  }

  mutating func answer(_ number: RequestNumber, _ facts: ResponseMetadata, at uptime: Int64) {
    change(number) {
      $0.facts = facts
      $0.arrival = uptime
      $0.fate = .answered
    }
  }

  mutating func fail(_ number: RequestNumber, _ failure: RequestFailure, jitter: UInt16) {
    failures += 1
    change(number) { $0.fate = .failed(failure, jitter: jitter) }
  }

  mutating func leave(_ number: RequestNumber, _ problem: WebSignInProblem) {
    change(number) { $0.fate = .notSignedIn(problem) }
  }

  mutating func hold(_ number: RequestNumber) { change(number) { $0.fate = .held } }
  mutating func journaled(_ number: RequestNumber) { change(number) { $0.fate = .journaled } }

  mutating func discard(_ number: RequestNumber) {
    change(number) { if $0.fate != .journaled { $0.fate = .discarded } }
  }

  /// Whether the caller's login has left.
  func hasLogin(of caller: Caller) -> Bool { requests.contains { $0.request == .login(caller) } }

  mutating func abandon(_ caller: Caller) {
    for index in requests.indices where requests[index].request == .login(caller) {
      requests[index].isAbandoned = true
    }
  }

  /// When the token of the request's answer dies.
  func deadline(of number: RequestNumber) -> Int64 {
    guard let request = self[number] else { return 0 }
    return request.arrival.addingSaturating(request.facts?.lifetime ?? 0)
  }

  mutating func lose() { requests = [] }

  private mutating func change(_ number: RequestNumber, _ change: (inout Request) -> Void) {
    if let index = requests.firstIndex(where: { $0.number == number }) {
      change(&requests[index])
    }
  }
}
