import Foundation
@_spi(Internals) public import SessionCore
import SessionKit

// The meaning of a status and a code (LOG-3, LOG-7, REF-6).
extension HTTPBackend {
  /// Returns the failure of a response by the backend's rules; `nil` for a success.
  ///
  /// For a protected call (`.call`), `rejected` causes a refresh and a second attempt. Every other
  /// failure is left to the caller. A code is kept if ``/SessionCore/RequestFailure/keeps(_:)`` says so or if
  /// the configuration names it. Other codes count for the rules but are not kept.
  public func failure(_ step: Step, _ response: HTTPResponse) -> RequestFailure? {
    let isSuccess = (200...299).contains(response.status)
    // Most rules are of other statuses.
    let rules = failures.indices.filter {
      failures[$0].statuses.contains(response.status) && failures[$0].steps?.contains(step) != false
    }
    if isSuccess, rules.isEmpty { return nil }
    // The body of a success is not read for a code unless a rule needs one.
    let wantsCode = !isSuccess || rules.contains { failures[$0].wantsCode }
    let signs = wantsCode ? signs(response, at: step) : AnswerSigns(response, error: nil)
    let rule = rules.first { failures[$0].matches(signs) }.map { failures[$0] }
    if isSuccess, rule == nil { return nil }
    let kind = rule?.meaning ?? .unexpected
    // If another machine answered in place of the server, its code does not count. With 429 and 503
    // the machine in front of the server says when the server takes requests again: Varnish 7.7 sends
    // a page with `Retry-After`.
    let mayWait = kind != .intercepted || [429, 503].contains(response.status)
    return RequestFailure(
      kind: kind, status: UInt16(clamping: response.status),
      recordedCode: kind == .intercepted ? moved(step, response) : kept(signs, response),
      retryAfter: mayWait ? HTTPBackend.wait(response) : nil)
  }

  /// Returns the error of a failure, with a hint if the server may expect another form of HTTP
  /// Basic.
  package func refusal(_ failure: RequestFailure) -> AnswerFailure {
    let isOfClient = failure.serverCode?.lowercased() == "invalid_client"
    return AnswerFailure(failure: failure, problem: isOfClient ? client.doubt : nil)
  }

  /// Returns the code of a redirect to the same host: a network's page is at another one.
  private func moved(_ step: Step, _ response: HTTPResponse) -> String? {
    guard (300...399).contains(response.status), let target = response.header("Location"),
      let url = endpoint(of: step)?.url(below: baseURL), let host = url.host?.lowercased(),
      let address = URIReference.address(ofLocation: target, at: url.absoluteString),
      URL(string: address)?.host?.lowercased() == host
    else { return nil }
    return RequestFailure.movedAddress
  }

  func signs(_ response: HTTPResponse, at step: Step) -> AnswerSigns {
    let error = error(response)
    let codes = [number(beside: error.code, in: response), error.code].compactMap(\.self)
    let configured = codes.lazy.compactMap { errorCodes[$0] }.first
    let known = codes.compactMap { code in
      step == .call ? ErrorMeaning(ofCall: code) : ErrorMeaning(code: code)
    }
    // If a number says that the user must take part, the grant is not lost.
    return AnswerSigns(
      response, error: error,
      meaning: configured ?? known.first { $0 == .userNeeded } ?? known.last,
      isNamed: error.code.map { names($0) } == true)
  }

  /// Returns whether the configuration names the code.
  private func names(_ code: String) -> Bool {
    errorCodes[code] != nil || revoked.codes.contains(code)
      || failures.contains { $0.codes.contains(code) }
  }

  /// Returns the code that the journal may contain.
  private func kept(_ signs: AnswerSigns, _ response: HTTPResponse) -> String? {
    signs.code.flatMap { code in
      number(beside: code, in: response) ?? RequestFailure.kept(code, isNamed: signs.isNamed)
    }
  }

  /// Returns Microsoft's number in the description of an OAuth error (RFC 6749 §5.2) if it says more.
  ///
  /// The app's meanings come first. A number without a meaning says more than `invalid_grant` only.
  private func number(beside code: String?, in response: HTTPResponse) -> String? {
    do throws(Unreadable) {
      let members = try JSONMembers(body: response.body)
      let text = try members.first(["error_description"], members.string)
      guard let code, let number = text.flatMap({ IdentityCode(within: $0) })?.description
      else { return nil }
      let isKnown = code == "invalid_grant" || ErrorMeaning(code: number) != nil
      return errorCodes[number] != nil || errorCodes[code] == nil && isKnown ? number : nil
    } catch {
      // A description that cannot be read counts as missing.
      return nil
    }
  }

  /// Returns the server's code, from ``ResponseMapping/errorCodeHeader`` or the first path of
  /// ``ResponseMapping/errorCode`` that is present.
  func code(_ response: HTTPResponse) -> String? { error(response).code }

  /// Returns the server's code, and whether the response has the backend's own form of an error.
  private func error(_ response: HTTPResponse) -> AnswerSigns.ServerError {
    if let name = self.response.errorCodeHeader, let code = response.header(name) {
      return AnswerSigns.ServerError(code: code, hasForm: true)
    }
    var found = AnswerSigns.ServerError()
    do throws(Unreadable) {
      let members = try JSONMembers(body: response.body)
      for path in self.response.errorCode
      where try members.value(at: Array(path.steps.prefix(1))) != nil { found.hasForm = true }
      found.code = try members.first(self.response.errorCode) { (path) throws(Unreadable) in
        try members.textOrInteger(path)
      }
    } catch {
      // A code that cannot be read counts as missing.
    }
    return found
  }

  /// Returns how long to wait, in milliseconds: at most a day.
  ///
  /// `Retry-After` is a number of seconds or a date (RFC 9110 §10.2.3). With 429 it may be missing.
  /// Then the time until the limit is reset counts. With other statuses, the fields of a limit do not
  /// say that it is reached.
  private static func wait(_ response: HTTPResponse) -> Int64? {
    let now = response.header("Date").flatMap { Timestamp(httpDate: $0) }
    if let text = response.header("Retry-After") {
      if let seconds = seconds(text) { return bounded(seconds) }
      if let until = Timestamp(httpDate: text), let now {
        return bounded(milliseconds: until.milliseconds(since: now))
      }
    }
    guard response.status == 429 else { return nil }
    return resets(response).lazy.compactMap { text -> Int64? in
      guard let number = seconds(text) else { return nil }
      guard number >= 1_000_000_000 else { return bounded(number) }
      // A time since 1970, in seconds or milliseconds.
      let until = number < 100_000_000_000 ? number * 1000 : number
      return now.map {
        bounded(milliseconds: Timestamp(milliseconds: until).milliseconds(since: $0))
      }
    }
    .first
  }

  /// Returns when a limit is reset, by the fields of a limiter.
  ///
  /// `RateLimit` is that of draft-ietf-httpapi-ratelimit-headers-08: an item for each limit, of which
  /// those with `r=0` are reached, and the last reset counts. `RateLimit-Reset` is that of draft 06,
  /// which litestar 2.25 sends. `X-RateLimit-Reset` is older than the drafts.
  private static func resets(_ response: HTTPResponse) -> [String] {
    let limits = (response.header("RateLimit") ?? "").split(separator: ",").map { limit in
      limit.split(separator: ";").map { $0.filter { $0 != " " } }
    }
    let reached = limits.filter { $0.contains("r=0") }.joined()
    let times = reached.filter { $0.hasPrefix("t=") }.compactMap {
      seconds(String($0.dropFirst(2)))
    }
    return (times.max().map { ["\($0)"] } ?? [])
      + ["RateLimit-Reset", "X-RateLimit-Reset"].compactMap { response.header($0) }
  }

  /// Returns a number of digits; the largest one if it is out of range.
  private static func seconds(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(text) ?? .max
  }

  private static func bounded(_ seconds: Int64) -> Int64 { min(seconds, 86_400) * 1000 }

  private static func bounded(milliseconds: Int64) -> Int64 {
    min(max(0, milliseconds), 86_400_000)
  }
}

/// The parts of a response that a backend's rules examine.
struct AnswerSigns {
  /// What the body or a header field says of an error.
  struct ServerError {
    var code: String?
    /// Whether the body has a member in which the backend's errors have their code.
    var hasForm = false
  }

  let status: Int
  /// The meaning of the code, if it is known.
  let meaning: ErrorMeaning?
  /// Whether the configuration names the code.
  let isNamed: Bool
  private let error: ServerError?
  private let first: UInt8?
  private let isHTML: Bool

  /// The server's code, if there is one.
  var code: String? { error?.code }

  init(
    _ response: HTTPResponse, error: ServerError?, meaning: ErrorMeaning? = nil,
    isNamed: Bool = false
  ) {
    status = response.status
    (self.error, self.meaning, self.isNamed) = (error, meaning, isNamed)
    first = JSONMembers.firstByte(of: response.body)
    let type = response.header("Content-Type").map { type in
      type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    }
    isHTML =
      type.map { $0.isNamed("text/html") || $0.isNamed("application/xhtml+xml") } ?? false
  }

  /// Whether the code is about the request or the client, and not about a token.
  var concernsRequest: Bool {
    meaning == .clientRefused
      || code.map {
        RequestFailure.requestCodes.contains($0) || RequestFailure.repetitionCodes.contains($0)
      } == true
  }

  /// Whether the code is about a token.
  var concernsToken: Bool {
    switch meaning {
    case .refreshTokenReused, .tokenRevoked, .tokenExpired, .sessionNotFound, .tokenInvalid: true
    default: false
    }
  }

  /// Whether the code repeats the status: a firewall's object may have such a member, too.
  private var repeatsStatus: Bool {
    code.map { $0 == "\(status)" || status == 403 && $0.lowercased() == "forbidden" } == true
  }

  func looksLike(_ body: FailureRule.Body) -> Bool {
    switch body {
    case .empty: first == nil
    case .page: first == UInt8(ascii: "<")
    case .html: isHTML && isText
    case .foreign: repeatsStatus && !isNamed || error?.hasForm != true && !hasKnownCode
    case .uncoded: !hasKnownCode
    }
  }

  /// Whether the body is neither empty nor an object or array of JSON.
  private var isText: Bool {
    first != nil && first != UInt8(ascii: "{") && first != UInt8(ascii: "[")
  }

  /// Whether there is a code that is kept.
  private var hasKnownCode: Bool {
    code.map { isNamed || RequestFailure.keeps($0) } == true
  }
}
