import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit

/// Random backends and random responses for the properties of `HTTPBackend`.
extension Choices {
  /// A word that marks every secret, so that a leak is found.
  static let canary = "Canary7Zx"

  /// Any configuration.
  func wire() -> HTTPBackend {
    var wire = HTTPBackend(baseURL: URL(fileURLWithPath: "/"))
    for step in [\HTTPBackend.login, \.refresh, \.switchContext, \.profile, \.revocation] {
      wire[keyPath: step] = chance(1, in: 6) ? nil : endpoint()
    }
    wire.client =
      pick([
        .none, .form(id: "app", secret: Secret(Self.canary)),
        .basic(id: "app", secret: Secret(Self.canary)),
      ]) ?? .none
    wire.tokenForm = chance(1, in: 3) ? .jwt : .opaque
    if chance(1, in: 2) {
      wire.contextKeys = .camelCase
      (wire.response.firstName, wire.response.lastName) = ("firstName", "lastName")
    }
    wire.response.userID = path()
    wire.response.errorCode = paths()
    wire.response.envelope = chance(1, in: 3) ? path() : .whole
    wire.response.accessToken = paths()
    wire.response.refreshToken = paths()
    wire.response.tokenType = chance(1, in: 3) ? paths() : []
    wire.response.identityToken = paths()
    wire.response.lifetime = (0..<draw(in: 0...4)).map { _ in lifetime() }
    wire.response.user = (0..<draw(in: 0...3)).map { _ in user() }
    wire.response.context = paths()
    wire.response.profile = paths()
    wire.response.accountStatus = paths()
    if chance(1, in: 2) { undemanding(&wire) }
    wire.failures =
      pick([FailureRule.standard, FailureRule.oauth, [], [FailureRule(.rejected, codes: ["*"])]])
      ?? []
    wire.revoked.codes = chance(1, in: 3) ? ["*"] : []
    return wire
  }

  /// Requires so few members that many responses have them.
  private func undemanding(_ wire: inout HTTPBackend) {
    wire.tokenForm = .opaque
    wire.response.userID = "sub"
    wire.response.envelope = .whole
    wire.response.accessToken = ["a", "b", "c"]
    (wire.response.refreshToken, wire.response.identityToken) = (["none"], ["none"])
    (wire.response.tokenType, wire.response.context) = ([], ["none"])
    wire.response.lifetime.append(.assumed(.milliseconds(1)))
    wire.response.user.append(.member(.whole))
  }

  private func endpoint() -> HTTPEndpoint {
    let places: [TokenLocation] = [.nowhere, .bearer, .member("t"), .header("X-T")]
    return HTTPEndpoint.post(
      pick(["a", "/a/", "", "https://b.test/c?d=%zz", "ä b", "//", "?"]) ?? "a",
      body: pick([.json, .form, .none]) ?? .json, fields: ["f": 1, "g": .text(Self.canary)],
      accessToken: pick(places) ?? .nowhere, refreshToken: pick(places) ?? .nowhere,
      tokenHint: chance(1, in: 2) ? "hint" : nil)
  }

  private func path() -> MemberPath {
    pick(["a", "b", "a.b", "c", "c.0", "c.b", "a.a.a", "c.99999999999999999999"]) ?? "a"
  }

  private func paths() -> MemberPaths {
    MemberPaths((0..<draw(in: 1...3)).map { _ in chance(1, in: 8) ? .whole : path() })
  }

  private func lifetime() -> TokenLifetime {
    pick([
      .seconds(path()), .milliseconds(path()), .instant(path()), .claim("exp"), .claim("iat"),
      .assumed(.milliseconds(Int64.max)), .assumed(.milliseconds(Int64.min)),
    ]) ?? .unstated
  }

  private func user() -> UserSource {
    pick([
      .member(path()), .member(.whole), .claim("sub"), .claim(path(), of: .identity),
    ]) ?? .member("a")
  }

  /// A random response: mostly an object with members of any type, sometimes with wrong bytes.
  func response() -> HTTPResponse {
    var body: [UInt8] =
      chance(1, in: 8)
      ? Array((pick(["", "<html>", "null", "[]", "\u{FEFF}{}"]) ?? "").utf8) : Array(object(3).utf8)
    for _ in 0..<draw(in: 0...2) where !body.isEmpty && chance(1, in: 4) {
      body[draw(in: 0...(body.count - 1))] = UInt8(draw(below: 256))
    }
    let dates = ["Sun, 06 Nov 1994 08:49:37 GMT", Self.canary, "Thu, 01 Jan 0000 00:00:00 GMT"]
    var headers: [HTTPHeader] = []
    if chance(1, in: 2) { headers.append(HTTPHeader("Date", pick(dates) ?? "")) }
    if chance(1, in: 4) {
      headers.append(HTTPHeader("Retry-After", pick(["7", Self.canary] + dates) ?? ""))
    }
    return HTTPResponse(
      status: pick([
        200, 200, 200, 200, 201, 204, 301, 400, 401, 403, 404, 429, 500, 511, 600, -1, .max,
      ]) ?? 200,
      headers: headers, body: body)
  }

  private func object(_ depth: Int) -> String {
    let members = ["a", "b", "c", "sub", "exp", "iat", "id", "email"].compactMap { name in
      chance(1, in: 3) ? nil : "\"\(name)\":\(value(depth))"
    }
    return "{\(members.joined(separator: ","))}"
  }

  private func value(_ depth: Int) -> String {
    let canary = "\"\(Self.canary)\""
    switch draw(below: depth > 0 ? 13 : 9) {
    case 0: return canary
    case 1: return "17"
    case 2: return "null"
    case 3: return "true"
    case 4:
      return pick(["-0", "1e308", "784115377", "9e15", "-1", "0.5", "18446744073709551617"]) ?? "0"
    case 5: return "\"\(Self.canary)@\(Self.canary)\""
    case 6: return "\"1994-11-06T09:49:37Z\""
    case 7: return "\"\(Self.canary) \(Self.canary)\""
    case 8: return "\"\""
    case 9: return "[\(value(depth - 1)),\(canary)]"
    case 10:
      return "\"h.\(LoopbackToken.base64URL(Array(object(depth - 1).utf8))).\(Self.canary)\""
    default: return object(depth - 1)
    }
  }
}
