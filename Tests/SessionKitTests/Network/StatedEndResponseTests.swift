import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("Responses: the lifetime of the session")
struct StatedEndResponseTests {
  private typealias Place = BackendBench.Place
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let years = TokenMetadata.unknownLifetime

  private func wire(_ sources: TokenLifetime...) -> HTTPBackend {
    var wire = BackendBench.wire
    wire.response.sessionLifetime = sources
    return wire
  }

  private func response(
    _ place: Place, _ member: String?, claims: [String: WireValue] = [:], date: String? = date
  ) -> HTTPResponse {
    var members = place.members
    let token = LoopbackToken.make(claims: BackendBench.claims.merging(claims) { $1 })
    members["access_token"] = "\"\(token)\""
    members["ends"] = member
    return BackendBench.response(
      headers: date.map { [HTTPHeader("Date", $0)] } ?? [], BackendBench.object(members))
  }

  @Test(
    "POL-10 a member states the end as seconds, milliseconds or an instant",
    arguments: [
      (TokenLifetime.seconds("ends"), "7200", 7_200_000),
      (.seconds("ends"), "\"1.5\"", 1_500), (.seconds("ends"), "1e400", years),
      (.milliseconds("ends"), "7200", 7_200), (.milliseconds("ends"), "99e15", years),
      (.instant("ends"), "784115377", 3_600_000),
      (.instant("ends"), "\"1994-11-06T09:49:37Z\"", 3_600_000),
      (.instant("ends"), "\"1994-11-06T08:49:36Z\"", 0),
      (.instant("ends"), "\"2094-11-06T08:49:37Z\"", years),
    ])
  func member(source: TokenLifetime, member: String, milliseconds: Int64) throws {
    for place in Place.allCases {
      let response = response(place, member)
      let found =
        switch place {
        case .login: try wire(source).readLogin(response)
        case .refresh: try wire(source).readRefresh(response)
        case .switched: try wire(source).readSwitch(response)
        }
      #expect(found.sessionLifetime == .milliseconds(milliseconds), "\(place)")
    }
  }

  @Test(
    "POL-10 a claim of the access token states the end, measured from the later of Date and iat")
  func claim() throws {
    let wire = wire(.seconds("ends"), .claim("session_end"))
    for (end, issued, date, milliseconds) in [
      (784_115_377, nil, Self.date, 3_600_000), (784_115_377, 784_115_376, Self.date, 1_000),
      (784_115_377, 784_115_376, nil, 1_000), (784_111_776, nil, Self.date, 0),
      (7_841_153_770, nil, Self.date, Self.years),
    ] as [(Int, Int?, String?, Int64)] {
      var claims: [String: WireValue] = ["session_end": .int(end)]
      if let issued { claims["iat"] = .int(issued) }
      let response = response(.refresh, nil, claims: claims, date: date)
      #expect(try wire.readRefresh(response).sessionLifetime == .milliseconds(milliseconds))
    }
    let odd = response(.login, nil, claims: ["session_end": "soon"])
    #expect(try wire.readLogin(odd).sessionLifetime == nil, "no number, no claim")
  }

  @Test("POL-10 without a source, or without its member, no end is stated")
  func nothing() throws {
    let response = response(.login, "7")
    for wire in [BackendBench.wire, wire(.seconds("other")), wire(.assumed(.seconds(5)))] {
      #expect(try wire.readLogin(response).sessionLifetime == nil)
    }
  }

  @Test(
    "POL-10 REF-7 an unreadable end fails a login, and is ignored in a refresh",
    arguments: [
      (TokenLifetime.seconds("ends"), "0", date), (.seconds("ends"), "-1", date),
      (.seconds("ends"), "true", date), (.milliseconds("ends"), "0.4", date),
      (.instant("ends"), "\"soon\"", date), (.instant("ends"), "{}", date),
      (.instant("ends"), "784115377", nil),
    ] as [(TokenLifetime, String, String?)])
  func unreadable(source: TokenLifetime, member: String, date: String?) throws {
    let wire = wire(source)
    var problem: String?
    do throws(AnswerFailure) {
      _ = try wire.readLogin(response(.login, member, date: date))
    } catch {
      problem = error.problem
    }
    #expect(problem?.hasPrefix("ends ") == true, "\(problem ?? "no problem")")
    let found = try wire.readRefresh(response(.refresh, member, date: date))
    #expect(found.sessionLifetime == nil && found.refresh == Secret("rt_next"))
  }

  @Test("POL-10 if one source is unreadable, the next one is used")
  func next() throws {
    let wire = wire(.instant("ends"), .seconds("expires_in"))
    #expect(try wire.readLogin(response(.login, "true")).sessionLifetime == .seconds(3_600))
  }

  @Test(
    "REF-16 a response says how long the server keeps the refresh token, in seconds above 0",
    arguments: [
      (["refresh_expires_in": "1800"], 1_800_000),
      (["refresh_token_expires_in": "\"604800\""], 604_800_000),
      (["refresh_token_timeout": "60", "refresh_expires_in": "1800"], 60_000),
      (["refresh_token_timeout": "true", "refresh_expires_in": "1800"], 1_800_000),
      (["refresh_expires_in": "0"], nil), (["refresh_expires_in": "-5"], nil),
      (["refresh_expires_in": "1e400"], years), (["refresh_expires_in": "null"], nil), ([:], nil),
    ] as [([String: String], Int64?)])
  func refreshToken(members: [String: String], milliseconds: Int64?) throws {
    for place in Place.allCases where place != .switched {
      let response = BackendBench.response(
        headers: [], BackendBench.object(place.members.merging(members) { $1 }))
      let found =
        try place == .login
        ? BackendBench.wire.readLogin(response) : BackendBench.wire.readRefresh(response)
      #expect(found.refreshTokenLifetime == milliseconds.map { .milliseconds($0) }, "\(place)")
    }
  }

  @Test("REF-16 the identity token's session_expiry ends the session; the earlier end counts")
  func sessionExpiry() throws {
    for (ends, rest) in [(nil, 3_600), ("60", 60), ("7200", 3_600)] as [(String?, Int64)] {
      var members = Place.login.members
      let claims: [String: WireValue] = ["sub": "u-1", "session_expiry": 784_115_377]
      members["id_token"] = "\"\(LoopbackToken.make(claims: claims))\""
      members["ends"] = ends
      let response = BackendBench.response(
        headers: [HTTPHeader("Date", Self.date)], BackendBench.object(members))
      var wire = wire(.seconds("ends"))
      #expect(try wire.readLogin(response).sessionLifetime == .seconds(rest), "\(rest)")
      // A token that is refused says nothing.
      wire.identityToken = IdentityToken.Expectation(issuer: "https://id.test", client: "app")
      let stated = ends.flatMap { Int64($0) }.map { Duration.seconds($0) }
      #expect(try wire.readLogin(response).sessionLifetime == stated)
    }
  }

  @Test(
    "POL-10 the authorization's end of OAuth ends the session, and no form of it fails a login",
    arguments: [
      ("3600", 3_600), ("\"60\"", 60), ("0", nil), ("-1", nil), ("true", nil), ("\"never\"", nil),
    ] as [(String, Int64?)])
  func authorization(member: String, seconds: Int64?) throws {
    let url = try #require(URL(string: "https://id.test/token"))
    let backend = HTTPBackend.oauth(token: url, allowsPasswordGrant: true)
    let members = Place.login.members.merging(["authorization_expires_in": member]) { $1 }
    let response = BackendBench.response(BackendBench.object(members))
    #expect(try backend.readLogin(response).sessionLifetime == seconds.map { .seconds($0) })
  }
}
