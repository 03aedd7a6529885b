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
    /// The end of the request under way, to close the session.
    case close
  }

  private var forToken: [Caller] = []
  private var forContext: [Caller] = []
  private var forItems: [Caller] = []
  private var toClose: [Caller] = []

  private subscript(_ goal: Goal) -> [Caller] {
    get {
      switch goal {
      case .token: forToken
      case .context: forContext
      case .items: forItems
      case .close: toClose
      }
    }
    set {
      switch goal {
      case .token: forToken = newValue
      case .context: forContext = newValue
      case .items: forItems = newValue
      case .close: toClose = newValue
      }
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
    self[goal].append(caller)
  }

  /// Returns a caller to the front of a list, since its request is made again.
  mutating func addFirst(_ caller: Caller, for goal: Goal) {
    self[goal].insert(caller, at: 0)
  }

  /// Removes the caller that has waited longest.
  mutating func takeFirst(_ goal: Goal) -> Caller? {
    self[goal].isEmpty ? nil : self[goal].removeFirst()
  }

  /// Removes all callers of these lists; returns them in this order, oldest first.
  mutating func takeAll(_ goals: Goal...) -> [Caller] {
    goals.flatMap { goal in
      defer { self[goal] = [] }
      return self[goal]
    }
  }

  /// Removes a caller that was cancelled; a close is not cancelled.
  mutating func cancel(_ caller: Caller) {
    for goal in [Goal.token, .context, .items] { self[goal].removeAll { $0 == caller } }
  }
}
