import Synchronization

extension SimulatedServer {
  /// What becomes of one request: a script, where draws decide otherwise.
  ///
  /// ```swift
  /// world.server.script(.answerLost, for: .refresh, number: 2)
  /// world.server.script(.delayed(back: 500), for: .refresh, number: 3)   // overtaken by the fourth
  /// ```
  public struct Fate: Hashable, Sendable {
    /// Milliseconds that the request travels.
    public var there = 0
    /// Milliseconds that the answer travels.
    public var back = 0
    /// How often the service acts on it; 0 where the request is lost.
    public var arrivals = 1
    /// Whether the answer is lost.
    public var isAnswerLost = false
    /// What the service answers without acting; `nil` where it acts.
    public var status: Int?

    /// It arrives, and so does its answer.
    public static let delivered = Fate()
    /// It is lost before the service acts.
    public static let requestLost = Fate(arrivals: 0)
    /// The service acts, and the answer is lost.
    public static let answerLost = Fate(isAnswerLost: true)
    /// It arrives twice, the service acts twice, and the second answer comes.
    public static let repeated = Fate(arrivals: 2)

    /// The service does not act, and answers with this status.
    public static func status(_ status: Int) -> Fate { Fate(status: status) }

    /// It arrives, and so does its answer, after so many milliseconds: what is sent later may overtake it.
    public static func delayed(there: Int = 0, back: Int = 0) -> Fate {
      Fate(there: there, back: back)
    }

    /// A fate; what is not said goes well.
    public init(
      there: Int = 0, back: Int = 0, arrivals: Int = 1, isAnswerLost: Bool = false,
      status: Int? = nil
    ) {
      self.there = max(0, there)
      self.back = max(0, back)
      self.arrivals = max(0, arrivals)
      self.isAnswerLost = isAnswerLost
      self.status = status
    }
  }

  /// Decides what becomes of a request, whatever the weather: the one of that number of its kind, from 1
  /// and since the world began, as `refresh #2` in a report; without a number the next that is sent.
  public func script(_ fate: Fate, for endpoint: LoopbackEndpoint, number: Int? = nil) {
    state.withLock { state in
      let number = number ?? (state.sent[endpoint] ?? 0) + 1
      state.script[Request(endpoint: endpoint, number: number)] = fate
    }
  }

  struct Request: Hashable, Sendable {
    let endpoint: LoopbackEndpoint
    let number: Int
  }
}
