import Foundation
@_spi(Internals) import SessionCore
public import SessionHTTP
import SessionKit
import Synchronization

/// The auth service of `LoopbackServer` without sockets; delays, losses and repetitions are drawn.
///
/// Draws decide the fate of each request:
///
/// - How long it travels.
/// - Whether the service acts on it once, twice or never.
/// - How long the answer travels, and whether it arrives.
///
/// So answers can overtake each other, and some are lost after the service acted.
public final class SimulatedServer: HTTPTransport {
  /// The probabilities of faults, and the longest delay.
  public struct Weather: Sendable, Equatable {
    /// The percentage of requests that are lost before the service acts.
    public var lostRequests: UInt64
    /// The percentage of answers that are lost after the service acted.
    public var lostAnswers: UInt64
    /// The percentage of requests that arrive twice.
    public var repetitions: UInt64
    /// The percentage of requests that the service answers with 503.
    public var outages: UInt64
    /// The longest travel time in each direction, in milliseconds.
    public var longestWay: Int

    /// A network and a service without faults.
    public static let clear = Weather(
      lostRequests: 0, lostAnswers: 0, repetitions: 0, outages: 0, longestWay: 0)

    /// A network and a service in which every fault occurs now and then.
    public static let rough = Weather(
      lostRequests: 10, lostAnswers: 15, repetitions: 10, outages: 15, longestWay: 400)

    /// Creates a weather.
    public init(
      lostRequests: UInt64, lostAnswers: UInt64, repetitions: UInt64, outages: UInt64,
      longestWay: Int
    ) {
      self.lostRequests = lostRequests
      self.lostAnswers = lostAnswers
      self.repetitions = repetitions
      self.outages = outages
      self.longestWay = longestWay
    }
  }

  struct State {
    var backend: LoopbackBackend
    var settings = LoopbackSettings()
    var weather = Weather.clear
    var counts: [LoopbackEndpoint: Int] = [:]
    /// The number of requests sent to each endpoint.
    var sent: [LoopbackEndpoint: Int] = [:]
    /// The scripted fates of requests.
    var script: [Request: Fate] = [:]
    var misuses: [String] = []
    /// The number of requests per session that may change a token and whose sender still waits.
    var waiting: [Int: Int] = [:]
    var mostWaiting = 0
  }

  let state: Mutex<State>
  private let clock: ManualClock
  let choices: Choices
  private let scheduler: SimulatedScheduler?

  /// Creates a service that draws the fates of requests from `choices`.
  public convenience init(
    backend: LoopbackBackend = .edu(), clock: ManualClock, choices: Choices
  ) {
    self.init(backend: backend, clock: clock, choices: choices, scheduler: nil)
  }

  init(
    backend: LoopbackBackend, clock: ManualClock, choices: Choices, scheduler: SimulatedScheduler?
  ) {
    state = Mutex(State(backend: backend))
    self.clock = clock
    self.choices = choices
    self.scheduler = scheduler
  }

  /// The probabilities of faults from now on.
  public var weather: Weather {
    get { state.withLock { $0.weather } }
    set { state.withLock { $0.weather = newValue } }
  }

  /// The settings of the service.
  public var settings: LoopbackSettings {
    get { state.withLock { $0.settings } }
    set { state.withLock { $0.settings = newValue } }
  }

  /// Returns how often the service acted on requests of an endpoint.
  public func count(of endpoint: LoopbackEndpoint) -> Int {
    state.withLock { $0.counts[endpoint] ?? 0 }
  }

  /// The greatest number of senders that waited at the same time for a token of one session.
  ///
  /// A request that is sent after the service has ended its session is not counted, since no token can
  /// follow from it.
  public var mostTokenRequestsAtOnce: Int { state.withLock { $0.mostWaiting } }

  /// All tokens, passwords and e-mail addresses that the service knows; no file may contain one.
  public var secrets: Set<String> { state.withLock { $0.backend.secrets } }

  /// Revokes all tokens that were issued so far.
  public func revokeAllTokens() {
    state.withLock { $0.backend.revoke(access: true, refresh: true) }
  }

  /// Sends a request; a script or the weather decides its fate.
  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let received = ReceivedRequest(request)
    let endpoint = LoopbackEndpoint(path: received.path)
    var departure = depart(endpoint)
    if endpoint.readsBody { departure.body = RequestBody(received.body) }
    guard endpoint == .refresh || endpoint == .switchContext,
      let session = session(of: received, departure.body)
    else { return try await travel(received, endpoint, departure, within: request.timeout) }
    state.withLock { state in
      state.waiting[session, default: 0] += 1
      state.mostWaiting = max(state.mostWaiting, state.waiting[session] ?? 0)
    }
    defer { state.withLock { $0.waiting[session, default: 0] -= 1 } }
    return try await travel(received, endpoint, departure, within: request.timeout)
  }

  /// A sent request: its name in the schedule, such as `refresh #2`, its scripted fate, if any, and its
  /// body, which is parsed once however often it arrives.
  private struct HeldRequest {
    var name = ""
    var fate: Fate?
    var body: RequestBody?
  }

  private func depart(_ endpoint: LoopbackEndpoint) -> HeldRequest {
    let (number, fate) = state.withLock { state in
      let number = (state.sent[endpoint] ?? 0) + 1
      state.sent[endpoint] = number
      return (number, state.script.removeValue(forKey: Request(endpoint: endpoint, number: number)))
    }
    guard choices.isTracing else { return HeldRequest(fate: fate) }
    let name = "\(endpoint) #\(number)"
    choices.tellSchedule("\(scheduler?.currentName ?? "a task") sends \(name)")
    scheduler?.renameCurrent(name)
    return HeldRequest(name: name, fate: fate)
  }

  /// Returns the session of a request, by the token in it; `nil` if the session has ended.
  private func session(of request: ReceivedRequest, _ body: RequestBody?) -> Int? {
    let refresh = body?.refreshToken
    return state.withLock { state in
      let issued =
        request.bearer.flatMap { state.backend.accessTokens[$0] }
        ?? refresh.flatMap { state.backend.refreshTokens[$0] }
      return issued.flatMap { state.backend.sessions[$0.session].hasEnded ? nil : $0.session }
    }
  }

  nonisolated(nonsending) private func travel(
    _ request: ReceivedRequest, _ endpoint: LoopbackEndpoint, _ departure: HeldRequest,
    within timeout: Duration
  ) async throws(TransportError) -> HTTPResponse {
    let (name, fate, body) = (departure.name, departure.fate, departure.body)
    let weather = weather
    let deadline = clock.now().uptime.addingSaturating(timeout.wholeMilliseconds)
    try await go(name, fate?.there, weather, until: deadline)
    let isLost = fate.map { $0.arrivals == 0 } ?? choices.chance(weather.lostRequests, in: 100)
    if isLost {
      choices.tellSchedule("\(name) is lost before the service acts")
      try await wait(name, until: deadline)
      throw .noReply("the request was lost")
    }
    let isOut = fate.map { $0.status != nil } ?? choices.chance(weather.outages, in: 100)
    var response: HTTPResponse
    if isOut {
      let status = fate?.status ?? 503
      choices.tellSchedule("the service does not act on \(name): \(status)")
      response = HTTPResponse(status: status)
      // Without a script, the answer of an outage needs no time.
      guard fate != nil else { return response }
    } else {
      response = act(request, endpoint, body)
      choices.tellSchedule("the service acts on \(name): \(response.status)")
      let isRepeated = fate.map { $0.arrivals > 1 } ?? choices.chance(weather.repetitions, in: 100)
      for _ in 1..<(isRepeated ? fate?.arrivals ?? 2 : 1) as Range<Int> {
        response = act(request, endpoint, body)
        choices.tellSchedule("\(name) arrives again, the service acts again: \(response.status)")
      }
    }
    if fate?.isAnswerLost ?? choices.chance(weather.lostAnswers, in: 100) {
      choices.tellSchedule("the answer to \(name) is lost")
      try await wait(name, until: deadline)
      throw .noReply("the answer was lost")
    }
    try await go(name, fate?.back, weather, until: deadline)
    choices.tellSchedule("the answer to \(name) arrives: \(response.status)")
    return response
  }

  /// Waits for the travel time: the given milliseconds, or as the weather draws it.
  nonisolated(nonsending) private func go(
    _ name: String, _ milliseconds: Int?, _ weather: Weather, until deadline: Int64
  ) async throws(TransportError) {
    guard milliseconds ?? weather.longestWay > 0 else { return }
    let way = milliseconds ?? choices.draw(in: 0...weather.longestWay)
    let arrival = clock.now().uptime.addingSaturating(Int64(way))
    try await wait(name, until: min(arrival, deadline))
    if arrival > deadline {
      choices.tellSchedule("\(name) is given up: too long on its way")
      throw .noReply("no answer in time")
    }
  }

  nonisolated(nonsending) private func wait(
    _ name: String, until uptime: Int64
  ) async throws(TransportError) {
    do { try await clock.rest(untilUptime: uptime) } catch {
      choices.tellSchedule("\(name) is cancelled")
      throw .cancelled
    }
  }

  private func act(
    _ request: ReceivedRequest, _ endpoint: LoopbackEndpoint, _ body: RequestBody?
  ) -> HTTPResponse {
    let now = clock.now().time.milliseconds
    let sent = state.withLock { state in
      state.counts[endpoint, default: 0] += 1
      return state.backend.answer(request, body, now: now, settings: state.settings).response
    }
    return HTTPResponse(
      status: sent.status, headers: sent.fields.map { HTTPHeader($0.name, $0.value) },
      body: sent.body)
  }
}

extension LoopbackEndpoint {
  /// Whether the members of the body decide the answer.
  fileprivate var readsBody: Bool {
    switch self {
    case .login, .refresh, .switchContext, .logout: true
    case .materials, .changes, .other, .unreadable: false
    }
  }
}

extension ReceivedRequest {
  /// Creates the request as the server would receive it.
  package init(_ request: HTTPRequest) {
    let place = Place(request.url)
    self.init(
      method: request.method, path: place.path, query: place.query,
      fields: request.headers.map { HTTPField($0.name.lowercased(), $0.value) },
      body: request.body ?? [])
  }

  /// The path and the query of an address.
  private struct Place {
    let path: String
    let query: String?

    init(_ url: URL) {
      if let path = Self.plainPath(of: url.absoluteString) {
        (self.path, query) = (path, nil)
      } else {
        (path, query) = (url.path, url.query(percentEncoded: true))
      }
    }

    /// Returns the path of an address such as `https://host/path`, which needs no decoding; `nil` for
    /// any other one.
    private static func plainPath(of address: String) -> String? {
      var address = address
      return address.withUTF8 { bytes in
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
          bytes[colon...].starts(with: "://".utf8),
          let start = bytes[(colon + 3)...].firstIndex(of: UInt8(ascii: "/")),
          bytes[bytes.count - 1] != UInt8(ascii: "/")
        else { return nil }
        for byte in bytes {
          // An escape, a query or a fragment.
          if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
            return nil
          }
        }
        return String(decoding: bytes[start...], as: UTF8.self)
      }
    }
  }
}
