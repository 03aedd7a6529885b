@_spi(Internals) import SessionCore

/// The requests that were sent, and their answers.
struct CoordinatorWire: Sendable {
  enum Fate: Hashable, Sendable {
    /// It is outstanding.
    case sent
    /// Its answer has arrived.
    case answered
    /// Its answer has arrived and could not be journaled yet.
    case held
    /// Its answer is in the journal.
    case journaled
    /// Its answer was discarded.
    case discarded
    /// It failed.
    case failed(RequestFailure, jitter: UInt16)
    /// The sign-in, with a page or silent, gave no tokens.
    case notSignedIn(WebSignInProblem)
  }

  struct Request: Sendable {
    let number: RequestNumber
    let request: SessionEffect.Request
    /// The generation of the token in it; for a login, the newest generation so far.
    let base: Generation
    var fate = Fate.sent
    var facts: ResponseMetadata?
    var arrival: Int64 = 0
    /// Whether no server is asked, since the tokens come from the app's old layer.
    var isAdoption = false
    /// Whether it is a login of the user who is signed in.
    var isReauthentication = false
    /// Whether its caller has stopped waiting for it.
    var isAbandoned = false

    var isLogin: Bool {
      if case .login = request { true } else { false }
    }
  }

  private(set) var requests: [Request] = []
  /// The number of failed requests.
  private(set) var failures = 0

  subscript(_ number: RequestNumber) -> Request? {
    requests.first { $0.number == number }
  }

  var outstanding: [Request] { requests.filter { $0.fate == .sent } }

  mutating func send(
    _ number: RequestNumber, _ request: SessionEffect.Request, base: Generation,
    for question: CoordinatorMove.Question?
  ) {
    let base =
      switch request {
      case .login: base
      case .refresh(let generation), .switchContext(_, let generation): generation
      }
    var sent = Request(number: number, request: request, base: base)
    sent.isAdoption = question == .login(.adoption)
    if case .reauthenticate = question { sent.isReauthentication = true }
    requests.append(sent)
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

  /// Returns whether the caller's login was sent.
  func hasLogin(of caller: Caller) -> Bool { requests.contains { $0.request == .login(caller) } }

  mutating func abandon(_ caller: Caller) {
    for index in requests.indices where requests[index].request == .login(caller) {
      requests[index].isAbandoned = true
    }
  }

  /// Returns the uptime at which the token in the request's answer expires.
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

/// The callers, their questions and their replies.
struct CoordinatorCallers: Sendable {
  struct Asked: Sendable {
    let caller: Caller
    let question: CoordinatorMove.Question
    /// The newest token when the caller asked.
    let generation: Generation
    /// The number of sessions that had ended when the question was decided; `nil` if it is not
    /// known.
    let ends: Int?
    /// The number of requests that had failed when the caller asked.
    let failures: Int
    var replies: [SessionEffect.Reply] = []
    var isCancelled = false

    var isCheck: Bool { if case .checkPassed = question { true } else { false } }
  }

  private(set) var asked: [Asked] = []
  /// The number of questions so far, in this process and those before it.
  private(set) var count = 0

  var waiting: [Asked] { asked.filter { $0.replies.isEmpty && !$0.isCancelled } }

  subscript(_ caller: Caller) -> Asked? { asked.first { $0.caller == caller } }

  /// Registers a new caller, and returns the input for its question.
  mutating func input(
    _ question: CoordinatorMove.Question, generation: Generation, ends: Int?, failures: Int
  ) -> SessionInput {
    count += 1
    let caller = Caller(UInt64(count))
    asked.append(
      Asked(
        caller: caller, question: question, generation: generation, ends: ends, failures: failures))
    return switch question {
    case .login(let method): .login(caller, method)
    case .reauthenticate(let method): .reauthenticate(caller, method)
    case .refresh(let trigger, let need): .refresh(caller, trigger, need)
    case .switchContext: .switchContext(caller)
    case .logout: .logout(caller)
    case .unlock: .unlock(caller)
    case .lock: .lock(caller)
    case .beginUnlock: .beginUnlock(caller)
    case .checkPassed(let number): .checkPassed(caller, number)
    case .foreground: .foreground(caller)
    case .close: .close(caller)
    }
  }

  mutating func reply(_ caller: Caller, _ reply: SessionEffect.Reply) {
    if let index = asked.firstIndex(where: { $0.caller == caller }) {
      asked[index].replies.append(reply)
    }
  }

  mutating func cancel(_ caller: Caller) {
    if let index = asked.firstIndex(where: { $0.caller == caller }) {
      asked[index].isCancelled = true
    }
  }

  /// Returns the method of a login request; `nil` for any other request.
  func method(of request: CoordinatorWire.Request) -> LoginMethod? {
    for asked in asked where request.request == .login(asked.caller) {
      switch asked.question {
      case .login(let method), .reauthenticate(let method): return method
      default: return nil
      }
    }
    return nil
  }

  /// Removes all callers, since their process died.
  mutating func lose() { asked = [] }
}
