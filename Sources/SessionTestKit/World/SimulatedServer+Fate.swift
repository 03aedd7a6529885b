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
  /// and since the world began, as `refresh #2` in a report; without a number the next that is sent and
  /// has no script, so that two calls decide two requests.
  ///
  /// A number below 1, that of a request that was sent before, and one that has a script, which is
  /// replaced, are told as warnings of the report and in the world's `failures`. `pendingScripts` names
  /// what has not struck.
  public func script(_ fate: Fate, for endpoint: LoopbackEndpoint, number: Int? = nil) {
    let misuse: String? = state.withLock { state in
      let sent = state.sent[endpoint] ?? 0
      var next = Request(endpoint: endpoint, number: number ?? sent + 1)
      if number == nil {
        while state.script[next] != nil { next.number += 1 }
      }
      if next.number < 1 {
        return "a script for \(next) never strikes: requests are counted from 1"
      }
      if next.number <= sent { return "a script for \(next) never strikes: it was sent before" }
      let old = state.script.updateValue(fate, forKey: next)
      return old == nil ? nil : "a second script for \(next) replaces the first"
    }
    guard let misuse else { return }
    choices.complain(misuse)
    state.withLock { $0.misuses.append(misuse) }
  }

  /// The requests that have a script and were not sent yet, such as `refresh #2`, in their order.
  public var pendingScripts: [String] {
    state.withLock { state in
      state.script.keys.sorted { ("\($0.endpoint)", $0.number) < ("\($1.endpoint)", $1.number) }
        .map { "\($0)" }
    }
  }

  /// What was asked of the service and means nothing.
  var misuses: [String] { state.withLock { $0.misuses } }

  struct Request: Hashable, Sendable, CustomStringConvertible {
    let endpoint: LoopbackEndpoint
    var number: Int

    var description: String { "\(endpoint) #\(number)" }
  }
}
