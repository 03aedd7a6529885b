/// The callers whose commands wait; each is in one list, and leaves it with its reply.
///
/// ```
///           add                takeAll, takeFirst: the reply
///  none ──────────▶ waiting ─────────────────────────────────▶ none
///                    │  ▲                                        ▲
///                    │  └── addFirst: the request is made again  │
///                    └──────────────── cancel ───────────────────┘
/// ```
struct WaitingCallers: Hashable, Sendable {
  /// What a caller waits for.
  enum Goal: Hashable, Sendable {
    /// A valid token.
    case token
    /// Another context.
    case context
    /// Stored items that can be read.
    case items
    /// The end of another caller's check of the user.
    case unlock
    /// The end of the request under way, to close the session.
    case close
  }

  private var forToken: [Caller] = []
  private var forContext: [Caller] = []
  private var forItems: [Caller] = []
  private var toUnlock: [Caller] = []
  private var toClose: [Caller] = []

  private subscript(_ goal: Goal) -> [Caller] {
    switch goal {
    case .token: forToken
    case .context: forContext
    case .items: forItems
    case .unlock: toUnlock
    case .close: toClose
    }
  }

  /// Changes a list in its place: a copy for each of ten thousand callers would be too slow.
  private mutating func change<Value>(
    _ goal: Goal, _ body: (inout [Caller]) -> Value
  ) -> Value {
    switch goal {
    case .token: body(&forToken)
    case .context: body(&forContext)
    case .items: body(&forItems)
    case .unlock: body(&toUnlock)
    case .close: body(&toClose)
    }
  }

  /// Whether no caller waits for this.
  func isEmpty(_ goal: Goal) -> Bool { self[goal].isEmpty }

  /// How many callers wait for this.
  func count(_ goal: Goal) -> Int { self[goal].count }

  /// The caller that has waited longest.
  func first(_ goal: Goal) -> Caller? { self[goal].first }

  /// Adds a caller at the end of a list.
  mutating func add(_ caller: Caller, for goal: Goal) {
    change(goal) { $0.append(caller) }
  }

  /// Returns a caller to the front of a list, since its request is made again.
  mutating func addFirst(_ caller: Caller, for goal: Goal) {
    change(goal) { $0.insert(caller, at: 0) }
  }

  /// Removes the caller that has waited longest.
  mutating func takeFirst(_ goal: Goal) -> Caller? {
    change(goal) { $0.isEmpty ? nil : $0.removeFirst() }
  }

  /// Removes all callers of these lists; returns them in this order, oldest first.
  mutating func takeAll(_ goals: Goal...) -> [Caller] {
    goals.flatMap { goal in
      change(goal) { callers in
        defer { callers = [] }
        return callers
      }
    }
  }

  /// Removes a caller that was cancelled; a close is not cancelled.
  mutating func cancel(_ caller: Caller) {
    for goal in [Goal.token, .context, .items, .unlock] {
      change(goal) { $0.removeAll { $0 == caller } }
    }
  }
}
