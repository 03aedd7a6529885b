@_spi(Internals) import SessionCore

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
    case .refresh(let trigger, let need): .refresh(caller, trigger, need)
    case .switchContext: .switchContext(caller)
    case .logout: .logout(caller)
    case .unlock: .unlock(caller)
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
      if case .login(let method) = asked.question { return method }
    }
    return nil
  }

  /// Removes all callers, since their process died.
  mutating func lose() { asked = [] }
}
