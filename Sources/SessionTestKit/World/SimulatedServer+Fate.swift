import Synchronization

extension SimulatedServer {
  /// The scripted fate of one request, in place of the draws.
  ///
  /// ```swift
  /// world.server.script(.answerLost, for: .refresh, number: 2)
  /// world.server.script(.delayed(back: 500), for: .refresh, number: 3)   // overtaken by the fourth
  /// ```
  public struct Fate: Hashable, Sendable {
    /// The travel time of the request in milliseconds.
    public var there = 0
    /// The travel time of the answer in milliseconds.
    public var back = 0
    /// The number of times that the service acts on it; 0 if the request is lost.
    public var arrivals = 1
    /// Whether the answer is lost.
    public var isAnswerLost = false
    /// The status with which the service answers without acting; `nil` if it acts.
    public var status: Int?

    /// The request and its answer arrive.
    public static let delivered = Fate()
    /// The request is lost before the service acts.
    public static let requestLost = Fate(arrivals: 0)
    /// The service acts, and the answer is lost.
    public static let answerLost = Fate(isAnswerLost: true)
    /// The request arrives twice, the service acts twice, and the second answer arrives.
    public static let repeated = Fate(arrivals: 2)

    /// The service does not act, and answers with this status.
    public static func status(_ status: Int) -> Fate { Fate(status: status) }

    /// Delivers the request and its answer after these milliseconds, so that later requests can
    /// overtake.
    public static func delayed(there: Int = 0, back: Int = 0) -> Fate {
      Fate(there: there, back: back)
    }

    /// Creates a fate; by default nothing goes wrong.
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

  /// Sets the fate of one request, in place of the weather.
  ///
  /// `number` counts the requests of an endpoint from 1, since the world began, as `refresh #2` in
  /// a report. Without a number the fate applies to the next unsent request that has no script. So
  /// two calls without a number script two requests.
  ///
  /// These misuses result in warnings of the report and entries in the world's `failures`:
  ///
  /// - The number is below 1.
  /// - The request with that number was sent before.
  /// - The request has a script already; the new one replaces it.
  ///
  /// `pendingScripts` lists the scripts that were not used yet.
  public func script(_ fate: Fate, for endpoint: LoopbackEndpoint, number: Int? = nil) {
    let misuse: String? = state.withLock { state in
      let sent = state.sent[endpoint] ?? 0
      var next = Request(endpoint: endpoint, number: number ?? sent + 1)
      if number == nil {
        while state.script[next] != nil { next.number += 1 }
      }
      if next.number < 1 {
        return "a script for \(next) never applies: requests are counted from 1"
      }
      if next.number <= sent { return "a script for \(next) never applies: it was sent before" }
      let old = state.script.updateValue(fate, forKey: next)
      return old == nil ? nil : "a second script for \(next) replaces the first"
    }
    guard let misuse else { return }
    choices.complain(misuse)
    state.withLock { $0.misuses.append(misuse) }
  }

  /// The requests that have a script and were not sent yet, such as `refresh #2`, in order.
  public var pendingScripts: [String] {
    state.withLock { state in
      state.script.keys.sorted { ("\($0.endpoint)", $0.number) < ("\($1.endpoint)", $1.number) }
        .map { "\($0)" }
    }
  }

  /// The misuses of the service by the test.
  var misuses: [String] { state.withLock { $0.misuses } }

  struct Request: Hashable, Sendable, CustomStringConvertible {
    let endpoint: LoopbackEndpoint
    var number: Int

    var description: String { "\(endpoint) #\(number)" }
  }
}
