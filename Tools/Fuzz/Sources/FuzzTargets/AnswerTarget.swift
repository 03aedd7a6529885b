internal import Foundation
internal import SessionCore
internal import SessionHTTP
internal import SessionKit

/// A check of backends' answers under any configuration: each is read or rejected, and its secrets
/// are never shown.
public enum AnswerTarget {
  /// Checks one input: three bytes of configuration, one of status, a line for `Date`, and the
  /// body.
  public static func check(_ input: [UInt8]) {
    guard input.count >= 4 else { return }
    let wire = wire(input[0], input[1], input[2])
    let statuses = [200, 201, 204, 302, 400, 401, 403, 404, 410, 429, 500, 503, 511, -1, .max]
    let rest = input.dropFirst(4).split(
      separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let headers = [
      HTTPHeader("Date", String(decoding: rest.first ?? [], as: UTF8.self)),
      HTTPHeader("Retry-After", String(decoding: rest.first ?? [], as: UTF8.self)),
    ]
    let response = HTTPResponse(
      status: statuses[Int(input[3]) % statuses.count], headers: headers,
      body: Array(rest.count > 1 ? rest[1] : []))
    let user = Credential.password(canary, canary)
    checkTokens { () throws(AnswerFailure) in try wire.readLogin(response, to: user) }
    checkTokens { () throws(AnswerFailure) in try wire.readRefresh(response) }
    checkTokens { () throws(AnswerFailure) in try wire.readSwitch(response) }
    checkError { () throws(AnswerFailure) in _ = try wire.readProfile(response) }
    checkError { () throws(AnswerFailure) in try wire.readRevocation(response) }
    if let failure = wire.failure(.call, response) { checkWords("\(failure)") }
  }

  /// A word that inputs contain in the place of a secret.
  private static let canary = "Canary7Zx"

  private static func wire(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> HTTPBackend {
    let base = URL(fileURLWithPath: "/")
    let backends: [HTTPBackend] = [
      .snakeCaseJSON(base), .azureADB2C(base, clientID: "c", scope: "s"), offlineFirst(base),
      ticketing(base), .camelCaseJSON(base), .oauth(token: base, revocation: base),
    ]
    var wire = backends[Int(first) % backends.count]
    let paths: [MemberPath] = ["a", "a.b", "a.0", "a.b.c.1", "b", .whole]
    let path = paths[Int(second) % paths.count]
    if first & 0x40 != 0 { wire.response.envelope = path }
    if first & 0x80 != 0 {
      wire.response.accessToken = MemberPaths([path] + wire.response.accessToken)
    }
    if second & 0x40 != 0 { wire.response.user.insert(.member(path), at: 0) }
    if second & 0x80 != 0 {
      wire.response.errorCode = MemberPaths([path] + wire.response.errorCode)
    }
    let lifetimes: [TokenLifetime] = [
      .seconds(path), .milliseconds(path), .instant(path), .claim("exp"),
      .assumed(.milliseconds(1)),
    ]
    wire.response.lifetime.insert(lifetimes[Int(third) % lifetimes.count], at: 0)
    if third & 0x20 != 0 { wire.response.user.append(.claim(path)) }
    if third & 0x40 != 0, let key = UserNameKey(Array(repeating: 7, count: 16)) {
      wire.response.user.append(.userName(key))
    }
    if third & 0x80 != 0 { wire.failures = [] }
    return wire
  }

  /// Returns a backend with a profile and a registration that logs no user in.
  private static func offlineFirst(_ base: URL) -> HTTPBackend {
    var backend = HTTPBackend.snakeCaseJSON(base)
    backend.register = "auth/register"
    backend.profile = .get("me", accessToken: .bearer)
    backend.tokenForm = .opaque
    backend.response.user = [.member("user"), .claim("sub")]
    return backend
  }

  /// Returns a backend whose token alone states its lifetime.
  private static func ticketing(_ base: URL) -> HTTPBackend {
    var backend = HTTPBackend.snakeCaseJSON(base)
    backend.social = "auth/social"
    backend.response.errorCode = ["error.code", "code"]
    backend.response.accessToken = ["token", "access_token"]
    backend.response.lifetime = [.claim("exp")]
    backend.response.user = [.member("user"), .claim("sub")]
    return backend
  }

  private static func checkTokens(_ read: () throws(AnswerFailure) -> TokenResponse) {
    checkError { () throws(AnswerFailure) in
      let answer = try read()
      require(
        (Duration.milliseconds(1)...Duration.milliseconds(316_224_000_000)).contains(
          answer.lifetime),
        "a life of \(answer.lifetime)")
      require(
        answer.access.plaintext.utf8.allSatisfy { (0x21...0x7E).contains($0) }
          && !answer.access.plaintext.isEmpty, "an access token that no header can carry")
      require(
        answer.user?.id.description.contains("@") != true, "an address as the user's identifier")
      checkWords("\(answer)")
    }
  }

  private static func checkError(_ read: () throws(AnswerFailure) -> Void) {
    do throws(AnswerFailure) {
      try read()
    } catch {
      require(!error.description.isEmpty, "an error without words")
      checkWords("\(error) \(error.problem ?? "")")
    }
  }

  private static func checkWords(_ words: String) {
    require(!words.contains(canary), "what was answered is shown: \(words)")
  }
}
