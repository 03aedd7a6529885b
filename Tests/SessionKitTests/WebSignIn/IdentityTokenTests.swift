@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// The check of an identity token, as a function: one row for each wrong token.
@Suite("The check of an identity token")
struct IdentityTokenTests {
  private static let issuer = "https://id.test"
  private static let now = Timestamp(milliseconds: 1_700_000_000_000)

  /// The claims of a right token, issued now for an hour.
  private static let right: [String: WireValue] = [
    "iss": .string(issuer), "aud": "app", "sub": "u-1", "nonce": "n-0123456789",
    "iat": 1_700_000_000, "exp": 1_700_003_600, "further": [1],
  ]

  private static var expectation: IdentityToken.Expectation {
    var expected = IdentityToken.Expectation(issuer: issuer, client: "app")
    expected.trustedAudiences = ["api"]
    (expected.nonce, expected.subject) = ("n-0123456789", "u-1")
    return expected
  }

  /// A token with these claims in place of the right ones; `.null` counts as missing.
  private static func token(_ claims: [String: WireValue]) -> Secret {
    Secret(LoopbackToken.make(claims: right.merging(claims) { $1 }))
  }

  /// A wrong token: what is changed, and the error.
  struct Wrong: Sendable, CustomTestStringConvertible {
    let name: String
    let token: Secret
    let error: IdentityTokenError
    var testDescription: String { "\(error.check): \(name)" }

    /// A token with another claim.
    init(
      _ check: IdentityTokenError.Check, _ value: WireValue, _ expected: String, _ found: String?,
      and others: [String: WireValue] = [:]
    ) {
      name = "\(value) \(others.keys.sorted().joined())"
      token = IdentityTokenTests.token(others.merging(["\(check)": value]) { $1 })
      error = IdentityTokenError(check, expected: expected, found: found)
    }

    /// A text that is no token.
    init(_ token: String, _ problem: TokenClaims.Problem) {
      (name, self.token) = (token, Secret(token))
      error = IdentityTokenError(
        .form, expected: "three parts, the second of which is an object", found: "\(problem)")
    }
  }

  private static let hidden = "a text that is not shown"
  private static let app = "app, and else only api"
  private static let soon = "a time after 2023-11-14T22:13:20.000Z"
  private static let latest = "a time until 2023-11-14T22:15:20.000Z"

  private static let wrong: [Wrong] = [
    Wrong("opaque", .notThreeParts), Wrong("e30.e30", .notThreeParts),
    Wrong("e30..e30", .notThreeParts), Wrong("e30.e30.e30.e30.e30", .notThreeParts),
    Wrong("e30.!!.e30", .payloadNotBase64URL), Wrong("e30.W10.e30", .payloadNotObject),
    Wrong("e30.e3.e30", .payloadNotObject),
    Wrong(.issuer, .null, issuer, nil), Wrong(.issuer, 7, issuer, "a number"),
    Wrong(.issuer, "", issuer, ""), Wrong(.issuer, "https://id.test/", issuer, "https://id.test/"),
    Wrong(.issuer, "https://ID.test", issuer, "https://ID.test"),
    Wrong(.issuer, "http://id.test", issuer, "http://id.test"),
    Wrong(.issuer, ["https://id.test"], issuer, "https://id.test"),
    Wrong(.issuer, "ana@school.test", issuer, hidden),
    Wrong(.issuer, "eyJhbGciOiJIUzI1NiJ9", issuer, hidden),
    Wrong(.audience, .null, app, nil), Wrong(.audience, "other", app, "other"),
    Wrong(.audience, "APP", app, "APP"), Wrong(.audience, "app ", app, hidden),
    Wrong(.audience, [], app, ""), Wrong(.audience, 7, app, "a number"),
    Wrong(.audience, ["other"], app, "other"), Wrong(.audience, ["app", 7], app, "app a number"),
    Wrong(.audience, ["app", "other"], app, "app other", and: ["azp": "app"]),
    Wrong(.audience, "api", app, "api"),
    Wrong(.authorizedParty, .null, "app", nil, and: ["aud": ["app", "api"]]),
    Wrong(.authorizedParty, "api", "app", "api", and: ["aud": ["app", "api"]]),
    Wrong(.authorizedParty, "other", "app", "other"), Wrong(.authorizedParty, 7, "app", "a number"),
    Wrong(.authorizedParty, "", "app", ""),
    Wrong(.issuedAt, .null, latest, nil), Wrong(.issuedAt, "1700000000", latest, "1700000000"),
    Wrong(.issuedAt, 1_700_000_121, latest, "2023-11-14T22:15:21.000Z"),
    Wrong(.issuedAt, true, latest, "a boolean"),
    Wrong(.expiry, .null, soon, nil), Wrong(.expiry, "1700003600", soon, "1700003600"),
    Wrong(.expiry, 1_700_000_000, soon, "2023-11-14T22:13:20.000Z"),
    Wrong(.expiry, -1, soon, "1969-12-31T23:59:59.000Z"),
    Wrong(
      .expiry, 1_699_999_880, "a time after 2023-11-14T22:11:20.000Z", "2023-11-14T22:11:20.000Z",
      and: ["iat": 1_699_990_000]),
    Wrong(.nonce, .null, "n-01…", nil), Wrong(.nonce, "n-01234567890", "n-01…", "n-01…"),
    Wrong(.nonce, "x", "n-01…", "x…"), Wrong(.nonce, 7, "n-01…", "a number"),
    Wrong(.nonce, "ana@school.test", "n-01…", "another text"),
    Wrong(.subject, .null, "u-1", nil), Wrong(.subject, "u-2", "u-1", "u-2"),
    Wrong(.subject, "", "u-1", ""), Wrong(.subject, ["u-1"], "u-1", "u-1"),
    Wrong(.subject, "bob@school.test", "u-1", hidden),
  ]

  @Test("LOG-18 a wrong token is refused with both values, and is not shown", arguments: wrong)
  func wrongTokens(row: Wrong) {
    let error = #expect(throws: IdentityTokenError.self) {
      try IdentityToken.check(row.token, against: Self.expectation, at: Self.now)
    }
    #expect(error == row.error)
    let text = error?.description ?? ""
    #expect(text.contains(row.error.expected) != (row.error.check == .subject))
    #expect(!text.contains("@") && !text.contains("u-"))
    #expect(!text.contains(row.token.plaintext) && !text.contains("0123456789"))
  }

  @Test(
    "LOG-18 a right token is accepted, also with clocks that differ by two minutes",
    arguments: [
      [:], ["aud": ["app"]], ["aud": ["api", "app"], "azp": "app"], ["azp": "app"],
      ["iat": 1_700_000_120], ["iat": 1_600_000_000],
      ["iat": 1_699_990_000, "exp": 1_699_999_881], ["exp": 1e11],
    ] as [[String: WireValue]])
  func rightTokens(claims: [String: WireValue]) throws {
    try IdentityToken.check(Self.token(claims), against: Self.expectation, at: Self.now)
  }

  @Test("LOG-18 without a server's time a token must end after it was issued")
  func withoutTime() throws {
    let late: [String: WireValue] = ["iat": 1_900_000_000, "exp": 1_900_000_001]
    try IdentityToken.check(Self.token(late), against: Self.expectation, at: nil)
    #expect(throws: IdentityTokenError.self) {
      try IdentityToken.check(
        Self.token(["iat": 1_900_000_000, "exp": 1_900_000_000]), against: Self.expectation, at: nil
      )
    }
  }

  @Test("LOG-18 a login accepts any user, and a refresh needs no nonce")
  func open() throws {
    let expected = IdentityToken.Expectation(issuer: Self.issuer, client: "app")
    try IdentityToken.check(
      Self.token(["sub": "u-2", "nonce": .null]), against: expected, at: Self.now)
    let error = #expect(throws: IdentityTokenError.self) {
      try IdentityToken.check(Self.token(["sub": .null]), against: expected, at: Self.now)
    }
    #expect(error == IdentityTokenError(.subject, expected: "a text", found: nil))
  }
}
