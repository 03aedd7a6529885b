/// What goes wrong with one request; see ``LoopbackServer/failNext(_:with:times:)``.
public enum LoopbackFault: Sendable, Equatable {
  /// Whether the server did what the request asks before things went wrong.
  public enum Moment: Sendable, Equatable {
    /// Its state is as it was.
    case beforeActing
    /// Its state has changed, and the client does not know.
    case afterActing
  }

  /// Answers this status with an error body, without acting; `retryAfter` is in seconds.
  case status(Int, code: String? = nil, retryAfter: Int? = nil)

  /// Breaks the connection (a TCP reset) after the first line of an answer.
  ///
  /// The line is there because a client may silently repeat the request when a connection that it
  /// reuses ends without a byte, and the fault would be spent unseen (on Linux `URLSession` then
  /// hangs until its time-out). A reset, because the same `URLSession` traps when a connection ends
  /// in order after that line. As it is, `URLSession` reports `networkConnectionLost`.
  case dropConnection(Moment)

  /// Acts, sends this many bytes of the answer (header and body together), breaks the connection.
  ///
  /// With 0 a client may silently repeat the request, see ``dropConnection(_:)``.
  case cutAnswer(afterBytes: Int)

  /// Acts, and sends the true answer in chunks with this trailer field (RFC 9112 §7.1.2).
  ///
  /// The answer is valid. On Linux `URLSession` ends the process at it (Specs/URLSession.md).
  case trailer(String, String)

  /// Waits this long, in real time and on top of the latency, then acts and answers truly.
  case delay(Duration)

  /// Answers these bytes, before or after acting.
  case body(
    [UInt8], contentType: String = "application/json", status: Int = 200,
    Moment = .beforeActing)

  /// Acts, and answers with these members of the JSON object added or replaced.
  ///
  /// An answer that is no success, or has no body, goes out as it is.
  case patch([String: WireValue])

  /// A page for people, as a captive portal or a proxy sends it: status 200, `text/html`.
  public static let html = LoopbackFault.body(
    Array("<!doctype html><title>Sign in to the network</title>".utf8), contentType: "text/html")

  /// Status 200 and half a JSON object.
  public static let brokenJSON = LoopbackFault.body(Array(#"{"access_token":"#.utf8))

  /// The true answer, but for an access token of two parts.
  public static let malformedToken = LoopbackFault.patch(["access_token": "only.two"])

  /// The true answer, but for `expires_in`: 0, a negative number, a text.
  public static func expiresIn(_ value: WireValue) -> LoopbackFault {
    .patch(["expires_in": value])
  }

  /// What a file must not contain on account of this fault.
  var secrets: [String] {
    switch self {
    case .patch(let members):
      WireValue.object(members)
        .texts(named: ["access_token", "refresh_token", "id_token", "email", "password"])
    case .body(let bytes, _, _, _): RequestBody(bytes)?.secrets ?? []
    case .status, .dropConnection, .cutAnswer, .trailer, .delay: []
    }
  }
}

// Bodies and patches may hold tokens.
extension LoopbackFault: CustomStringConvertible, CustomReflectable {
  /// The kind of fault, without what it sends.
  public var description: String {
    switch self {
    case .status(let status, let code, _): "status \(status) \(code ?? "")"
    case .dropConnection(let moment): "connection dropped \(moment)"
    case .cutAnswer(let bytes): "answer cut after \(bytes) bytes"
    case .trailer(let name, _): "answer with the trailer field \(name)"
    case .delay(let duration): "delay of \(duration)"
    case .body(let bytes, let type, let status, _): "\(status), \(bytes.count) bytes of \(type)"
    case .patch(let members): "patch of \(members.keys.sorted().joined(separator: ", "))"
    }
  }

  /// What a dump shows: the description.
  public var customMirror: Mirror { Mirror(self, children: ["fault": description]) }
}
