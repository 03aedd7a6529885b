/// A fault of one request; see ``LoopbackServer/failNext(_:with:times:)``.
public enum LoopbackFault: Sendable, Equatable {
  /// Whether the server acted on the request before the fault.
  public enum Moment: Sendable, Equatable {
    /// The server did not act; its state is unchanged.
    case beforeActing
    /// The server acted; its state has changed, and the client does not know it.
    case afterActing
  }

  /// Answers with this status and an error body, without acting; `retryAfter` is in seconds.
  case status(Int, code: String? = nil, retryAfter: Int? = nil)

  /// Answers with 401 and this `WWW-Authenticate`, without acting.
  ///
  /// For a call that needs the user, as RFC 9470 has it:
  /// `Bearer error="insufficient_user_authentication", max_age=300`.
  case challenge(String)

  /// Breaks the connection with a TCP reset after the first line of an answer.
  ///
  /// The first line prevents a silent repetition. A client may repeat a request if a reused
  /// connection ends without a byte. The fault would then have no effect, and on Linux `URLSession`
  /// waits until its timeout. After a reset, `URLSession` reports `networkConnectionLost`.
  case dropConnection(Moment)

  /// Acts, sends this many bytes of the answer (header and body), then breaks the connection.
  ///
  /// With 0 bytes a client may silently repeat the request; see ``dropConnection(_:)``.
  case cutAnswer(afterBytes: Int)

  /// Waits this long, in real time and in addition to the latency; then acts and sends the real
  /// answer.
  case delay(Duration)

  /// Answers with these bytes, before or after acting.
  case body(
    [UInt8], contentType: String = "application/json", status: Int = 200,
    Moment = .beforeActing)

  /// Acts, and answers with these members of the JSON object added or replaced.
  ///
  /// An answer without status 200 or without a JSON object is not changed.
  case patch([String: WireValue])

  /// Answers with a web page, as a captive portal or a proxy does: status 200, `text/html`.
  public static let html = LoopbackFault.body(
    Array("<!doctype html><title>Sign in to the network</title>".utf8), contentType: "text/html")

  /// Answers with status 200 and a text that is no JSON, nor the beginning of it.
  public static let brokenJSON = LoopbackFault.body(Array(#"{"access_token":}"#.utf8))

  /// Acts, and answers with an access token that has only two parts.
  public static let malformedToken = LoopbackFault.patch(["access_token": "only.two"])

  /// Acts, and answers with this `expires_in`, for example 0, a negative number or a string.
  public static func expiresIn(_ value: WireValue) -> LoopbackFault {
    .patch(["expires_in": value])
  }

  /// The secrets of this fault, which must not be found in any file.
  var secrets: [String] {
    switch self {
    case .patch(let members):
      WireValue.object(members)
        .texts(named: ["access_token", "refresh_token", "id_token", "email", "password"])
    case .body(let bytes, _, _, _): RequestBody(bytes)?.secrets ?? []
    case .status, .challenge, .dropConnection, .cutAnswer, .delay: []
    }
  }
}

// Bodies and patches can contain tokens.
extension LoopbackFault: CustomStringConvertible, CustomReflectable {
  /// The kind of the fault, without the data that it sends.
  public var description: String {
    switch self {
    case .status(let status, let code, _): "status \(status) \(code ?? "")"
    case .challenge: "401 with a challenge"
    case .dropConnection(let moment): "connection dropped \(moment)"
    case .cutAnswer(let bytes): "answer cut after \(bytes) bytes"
    case .delay(let duration): "delay of \(duration)"
    case .body(let bytes, let type, let status, _): "\(status), \(bytes.count) bytes of \(type)"
    case .patch(let members): "patch of \(members.keys.sorted().joined(separator: ", "))"
    }
  }

  /// A mirror that shows only the description.
  public var customMirror: Mirror { Mirror(self, children: ["fault": description]) }
}

/// The closed gates and the requests that wait at them; a value.
struct HeldRequests: Sendable {
  private struct Gate {
    let endpoint: LoopbackEndpoint
    let moment: LoopbackFault.Moment
    var queue: [Int] = []
    var admitted: Set<Int> = []
    var permits = 0
  }

  private var gates: [Int: Gate] = [:]
  private var count = 0

  /// Closes a gate, and returns its id.
  mutating func close(_ endpoint: LoopbackEndpoint, at moment: LoopbackFault.Moment) -> Int {
    count += 1
    gates[count] = Gate(endpoint: endpoint, moment: moment)
    return count
  }

  mutating func open(_ id: Int) {
    gates[id] = nil
  }

  mutating func admit(_ permits: Int, at id: Int) {
    guard var gate = gates[id], permits > 0 else { return }
    let admitted = gate.queue.prefix(permits)
    gate.admitted.formUnion(admitted)
    gate.queue.removeFirst(admitted.count)
    gate.permits += permits - admitted.count
    gates[id] = gate
  }

  mutating func admitNewest(at id: Int) {
    guard let newest = gates[id]?.queue.popLast() else { return }
    gates[id]?.admitted.insert(newest)
  }

  func waiting(at id: Int) -> Int {
    gates[id]?.queue.count ?? 0
  }

  /// Returns whether a call may pass; if not, it is in the gate's queue afterwards.
  mutating func pass(
    _ call: Int, _ endpoint: LoopbackEndpoint, at moment: LoopbackFault.Moment
  ) -> Bool {
    var passes = true
    for id in gates.keys.sorted() {
      guard var gate = gates[id], gate.endpoint == endpoint, gate.moment == moment,
        !gate.admitted.contains(call)
      else { continue }
      if gate.permits > 0 {
        gate.permits -= 1
        gate.admitted.insert(call)
      } else {
        passes = false
        if !gate.queue.contains(call) { gate.queue.append(call) }
      }
      gates[id] = gate
    }
    return passes
  }
}

/// The reason why a loopback server could not start.
public enum LoopbackError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A system call failed; `code` is its `errno`.
  case socket(call: String, code: Int32)

  /// A sentence that says what failed, where, the consequence, and what to do.
  public var description: String {
    switch self {
    case .socket(let call, let code):
      "The loopback server did not start: \(call) on 127.0.0.1 failed with errno \(code). "
        + "Nothing listens. Check that this process may open sockets and has file descriptors left."
    }
  }
}
