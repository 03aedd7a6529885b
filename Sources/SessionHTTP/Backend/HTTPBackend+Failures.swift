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
    let signs = signs(response, code: wantsCode ? code(response) : nil)
    let rule = rules.first { failures[$0].matches(signs) }.map { failures[$0] }
    if isSuccess, rule == nil { return nil }
    let kind = rule?.meaning ?? .unexpected
    // If another machine answered in place of the server, its code and `Retry-After` do not count.
    return RequestFailure(
      kind: kind, status: UInt16(clamping: response.status),
      recordedCode: kind == .intercepted ? nil : kept(signs, response),
      retryAfter: kind == .intercepted ? nil : HTTPBackend.retryAfter(response))
  }

  func signs(_ response: HTTPResponse, code: String?) -> AnswerSigns {
    AnswerSigns(
      response, code: code,
      meaning: code.flatMap { errorCodes[$0] ?? ErrorMeaning(code: $0) },
      isNamed: code.map { names($0) } == true)
  }

  /// Returns whether the configuration names the code.
  private func names(_ code: String) -> Bool {
    errorCodes[code] != nil || revoked.codes.contains(code)
      || failures.contains { $0.codes.contains(code) }
  }

  /// Returns the code that the journal may contain.
  ///
  /// Microsoft's number in a description is more specific than the `invalid_grant` next to it.
  private func kept(_ signs: AnswerSigns, _ response: HTTPResponse) -> String? {
    guard let code = signs.code else { return nil }
    if code == "invalid_grant", errorCodes[code] == nil, let number = number(in: response) {
      return number
    }
    return RequestFailure.kept(code, isNamed: signs.isNamed)
  }

  /// Returns Microsoft's number in the description of an OAuth error (RFC 6749 §5.2).
  private func number(in response: HTTPResponse) -> String? {
    do throws(Unreadable) {
      let members = try JSONMembers(body: response.body)
      let text = try members.first(["error_description"], members.string)
      return text.flatMap { IdentityCode(within: $0) }?.description
    } catch {
      // A description that cannot be read counts as missing.
      return nil
    }
  }

  /// Returns the server's code, from ``ResponseMapping/errorCodeHeader`` or the first path of
  /// ``ResponseMapping/errorCode`` that is present.
  func code(_ response: HTTPResponse) -> String? {
    if let name = self.response.errorCodeHeader, let code = response.header(name) { return code }
    do throws(Unreadable) {
      let members = try JSONMembers(body: response.body)
      return try members.first(self.response.errorCode) { (path) throws(Unreadable) in
        try members.textOrInteger(path)
      }
    } catch {
      // A code that cannot be read counts as missing.
      return nil
    }
  }

  /// Returns `Retry-After`, given in seconds or as a date (RFC 9110 §10.2.3), in milliseconds.
  ///
  /// The maximum is a day.
  ///
  /// A date is measured from the response's own `Date`, so that the device's clock does not matter.
  private static func retryAfter(_ response: HTTPResponse) -> Int64? {
    guard let text = response.header("Retry-After") else { return nil }
    let day: Int64 = 86_400_000
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      return Int64(text).map { min($0, day / 1000) * 1000 } ?? day
    }
    guard let until = Timestamp(httpDate: text),
      let now = response.header("Date").flatMap({ Timestamp(httpDate: $0) })
    else { return nil }
    return min(max(0, until.milliseconds(since: now)), day)
  }
}

/// The parts of a response that a backend's rules examine.
struct AnswerSigns {
  let status: Int
  /// The server's code, if there is one.
  let code: String?
  /// The meaning of the code, if it is known.
  let meaning: ErrorMeaning?
  /// Whether the configuration names the code.
  let isNamed: Bool
  private let first: UInt8?
  private let isHTML: Bool

  init(
    _ response: HTTPResponse, code: String?, meaning: ErrorMeaning? = nil, isNamed: Bool = false
  ) {
    status = response.status
    (self.code, self.meaning, self.isNamed) = (code, meaning, isNamed)
    first = JSONMembers.firstByte(of: response.body)
    let type = response.header("Content-Type").map { type in
      type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    }
    isHTML =
      type.map { $0.isNamed("text/html") || $0.isNamed("application/xhtml+xml") } ?? false
  }

  func looksLike(_ body: FailureRule.Body) -> Bool {
    switch body {
    case .empty: first == nil
    case .page: first == UInt8(ascii: "<")
    case .html: isHTML && isText
    case .text: isText && !hasKnownCode
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
