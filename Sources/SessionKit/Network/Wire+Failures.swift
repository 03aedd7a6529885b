import SessionCore

// What a status and a code mean (LOG-3, LOG-7, REF-6).
extension Wire {
  /// The failure that an answer other than a success is.
  ///
  /// A code counts at 4xx only, and there before the status; a 5xx is never the end of a session.
  /// Which codes are kept is for ``RequestFailure`` to say; the others count nevertheless.
  func failure(_ response: HTTPResponse) -> RequestFailure {
    let code = errorCode?(response) ?? standardCode(response)
    return RequestFailure(
      kind: Wire.kind(status: response.status, code: code ?? ""),
      status: UInt16(clamping: response.status), serverCode: code,
      retryAfter: Wire.retryAfter(response))
  }

  private static func kind(status: Int, code: String) -> RequestFailure.Kind {
    switch status {
    case 500...599: .server
    case 429: .rateLimited
    case 400...499 where code == "USER_INACTIVE": .userInactive
    case 400...499 where code == "USER_DELETED": .userDeleted
    case 400...499 where code == "RATE_LIMITED": .rateLimited
    case 400...499 where code.hasPrefix("DB_"): .server
    case 400...499 where code.hasPrefix("TOKEN_"): .rejected
    case 400 where code == "invalid_grant": .rejected
    case 401, 403: .rejected
    default: .unexpected
    }
  }

  /// `{"error":{"code":"…"}}` or, as OAuth has it, `{"error":"…"}`.
  private func standardCode(_ response: HTTPResponse) -> String? {
    let members: JSONMembers
    do { members = try JSONMembers(body: response.body) } catch { return nil }
    switch members.value(keys.error) {
    case .string(let code): return code
    case .object(let error):
      guard case .string(let code) = error[keys.errorCode] else { return nil }
      return code
    default: return nil
    }
  }

  /// `Retry-After` in milliseconds, seconds or a date (RFC 9110 §10.2.3); more than a day is a day.
  ///
  /// A date is measured from the answer's own `Date`, so that the device's clock plays no part.
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
