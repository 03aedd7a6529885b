import SessionCore
import SessionHTTP
import SessionKit

/// The whole state of a loopback server, as one value that a lock protects.
struct LoopbackServerState: Sendable {
  enum Milestone: Hashable {
    case received(LoopbackEndpoint)
    case finished(LoopbackEndpoint)
  }

  var backend: LoopbackBackend
  var settings = LoopbackSettings()
  var gates = HeldRequests()
  private(set) var calls: [LoopbackCall] = []
  private(set) var isStopped = false
  private var faults: [LoopbackEndpoint: [LoopbackFault]] = [:]
  private var milestones: [Milestone: Int] = [:]

  /// The service that answers instead of the backend, if there is one.
  private let service: (any LoopbackService)?

  init(backend: LoopbackBackend, service: (any LoopbackService)? = nil) {
    self.backend = backend
    self.service = service
  }

  mutating func receive(_ request: ReceivedRequest, connection: Int, now: Int64) -> CallJob {
    let endpoint = LoopbackEndpoint(path: request.path)
    let tokens = backend.presented(in: request)
    var headers: [String: String] = [:]
    for field in request.fields where LoopbackCall.harmlessHeaders.contains(field.name) {
      headers[field.name] = field.value
    }
    calls.append(
      LoopbackCall(
        number: calls.count + 1, endpoint: endpoint, method: request.method,
        path: ReceivedRequest.withoutSecrets(path: request.path), connection: connection,
        received: Timestamp(milliseconds: now), headers: headers,
        hasAuthorization: request.hasAuthorization,
        accessToken: tokens.access, refreshToken: tokens.refresh))
    milestones[.received(endpoint), default: 0] += 1
    service?.receive(request, number: calls.count)
    // It joins the gate's queue before a test can see that it is received. If it joined later, a test that
    // lets the newest request pass would let an older one pass.
    if service == nil { _ = gates.pass(calls.count, endpoint, at: .beforeActing) }
    return CallJob(number: calls.count, endpoint: endpoint, request: request)
  }

  mutating func receiveUnreadable(_ rejection: HTTPRejection, connection: Int, now: Int64) {
    var call = LoopbackCall(
      number: calls.count + 1, endpoint: .unreadable, method: "", path: "",
      connection: connection, received: Timestamp(milliseconds: now), headers: [:],
      hasAuthorization: false,
      accessToken: nil, refreshToken: nil)
    call.outcome = .answered(status: rejection.status)
    call.violation = .http
    calls.append(call)
    milestones[.received(.unreadable), default: 0] += 1
    milestones[.finished(.unreadable), default: 0] += 1
  }

  /// Advances a job as far as possible.
  ///
  /// - Parameters:
  ///   - job: The job.
  ///   - instant: The time of the monotonic clock in milliseconds, for delays.
  ///   - now: The server's time in milliseconds since 1970, clock skew included.
  mutating func advance(_ job: inout CallJob, at instant: Int64, now: Int64) -> CallStep {
    if let service {
      switch service.fate(ofRequest: job.number) {
      case nil: return .wait(until: nil)
      case .answer(let response): return finish(job, .answer(response, code: nil, nil), now: now)
      case .lost: return finish(job, .drop, now: now)
      }
    }
    while true {
      switch job.stage {
      case .arrived:
        guard gates.pass(job.number, job.endpoint, at: .beforeActing) else {
          return .wait(until: nil)
        }
        job.fault = takeFault(job.endpoint)
        job.stage = .delayed(until: instant.addingSaturating(delay(for: job.fault)))
      case .delayed(let until):
        guard instant >= until else { return .wait(until: until) }
        job.stage = .acted(act(job, now: now))
      case .acted(let result):
        guard gates.pass(job.number, job.endpoint, at: .afterActing) else {
          return .wait(until: nil)
        }
        return finish(job, result, now: now)
      }
    }
  }

  private func delay(for fault: LoopbackFault?) -> Int64 {
    var delay = max(0, settings.latency.milliseconds)
    if case .delay(let duration) = fault {
      delay = delay.addingSaturating(max(0, duration.milliseconds))
    }
    return delay
  }

  private mutating func act(_ job: CallJob, now: Int64) -> CallResult {
    switch job.fault {
    case nil, .delay: return actTruly(job, now: now)
    case .status(let status, let code, let retryAfter):
      var answer = BackendAnswer.failure(
        status, code ?? "SERVER_ERROR", "The test asked for this.")
      answer.code = code
      if let retryAfter {
        answer.fields = [HTTPField("Retry-After", String(retryAfter))]
      }
      return .answer(answer.response, code: code, nil)
    case .challenge(let text):
      let fields = [HTTPField("WWW-Authenticate", text)]
      return .answer(SentResponse(status: 401, fields: fields), code: nil, nil)
    case .dropConnection(.beforeActing): return .drop
    case .dropConnection(.afterActing):
      _ = actTruly(job, now: now)
      return .drop
    case .cutAnswer(let bytes):
      guard case .answer(let response, _, _) = actTruly(job, now: now) else { return .drop }
      return .cut(response, afterBytes: bytes)
    case .body(let bytes, let type, let status, let moment):
      if moment == .afterActing { _ = actTruly(job, now: now) }
      let fields = [HTTPField("Content-Type", type)]
      return .answer(SentResponse(status: status, fields: fields, body: bytes), code: nil, nil)
    case .patch(let members): return actTruly(job, now: now, patch: members)
    }
  }

  private mutating func actTruly(
    _ job: CallJob, now: Int64, patch: [String: WireValue] = [:]
  ) -> CallResult {
    var answer = backend.answer(job.request, now: now, settings: settings)
    if answer.status == 200, case .object(let members) = answer.body {
      answer.body = .object(members.merging(patch) { _, patched in patched })
    }
    return .answer(answer.response, code: answer.code, answer.violation)
  }

  private mutating func finish(_ job: CallJob, _ result: CallResult, now: Int64) -> CallStep {
    let closes = !(job.request.keepsConnection && settings.keepsConnections)
    milestones[.finished(job.endpoint), default: 0] += 1
    let index = job.number - 1
    switch result {
    case .answer(let response, let code, let violation):
      calls[index].outcome = .answered(status: response.status)
      calls[index].code = code
      calls[index].violation = violation
      let bytes = dated(response, now).bytes(answering: job.request.method, closing: closes)
      return .finish(bytes, then: closes ? .close : .goOn)
    case .cut(let response, let count):
      calls[index].outcome = .dropped
      let bytes = dated(response, now).bytes(answering: job.request.method, closing: closes)
      return .finish(Array(bytes.prefix(max(0, count))), then: .reset)
    case .drop:
      calls[index].outcome = .dropped
      return .finish(Array("HTTP/1.1 200 OK\r\n".utf8), then: .reset)
    }
  }

  private func dated(_ response: SentResponse, _ now: Int64) -> SentResponse {
    settings.tellsTime ? response.dated(now) : response
  }

  mutating func addFault(_ fault: LoopbackFault, to endpoint: LoopbackEndpoint, times: Int) {
    backend.learn(fault.secrets)
    faults[endpoint, default: []] += Array(repeating: fault, count: max(0, times))
  }

  mutating func clearFaults() {
    faults = [:]
  }

  private mutating func takeFault(_ endpoint: LoopbackEndpoint) -> LoopbackFault? {
    guard var queue = faults[endpoint], !queue.isEmpty else { return nil }
    let fault = queue.removeFirst()
    faults[endpoint] = queue
    return fault
  }

  func count(_ milestone: Milestone) -> Int {
    milestones[milestone, default: 0]
  }

  mutating func stop() {
    isStopped = true
  }
}

extension SentResponse {
  /// Returns the answer with a `Date` field.
  package func dated(_ now: Int64) -> SentResponse {
    var response = self
    response.fields.append(HTTPField("Date", Timestamp(milliseconds: now).httpDate))
    return response
  }
}
