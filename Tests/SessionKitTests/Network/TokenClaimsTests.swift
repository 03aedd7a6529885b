import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Claims")
struct TokenClaimsTests {
  private func claims(_ payload: String) throws(TokenClaims.Problem) -> TokenClaims {
    try TokenClaims(Secret("h.\(encode(payload)).s"))
  }

  private func encode(_ payload: String, padded: Bool = false) -> String {
    let text = Data(payload.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    return padded ? text : text.replacingOccurrences(of: "=", with: "")
  }

  @Test("STA-5 every claim is read")
  func all() throws {
    let claims = try claims(
      """
      {"sub":"u","email":"a@b.test","jti":"t","iat":1,"nbf":1.5,"exp":-2,"iss":"i",
       "active_context":{"role_id":"r","role_name":"n","permissions":["b","a","b"]}}
      """)
    #expect(claims.subject == "u")
    #expect(claims.email == "a@b.test")
    #expect(claims.tokenID == "t")
    #expect(claims.issuedAt == Timestamp(milliseconds: 1000))
    #expect(claims.notBefore == Timestamp(milliseconds: 1500))
    #expect(claims.expiresAt == Timestamp(milliseconds: -2000))
    #expect(claims.issuer == "i")
    #expect(
      claims.context
        == ActiveContext(role: .init(id: "r", name: "n"), permissions: ["a", "b"]))
  }

  @Test("STA-5 a claim of a wrong type counts as missing")
  func wrongTypes() throws {
    let claims = try claims(
      #"{"sub":1.5,"email":null,"jti":"","iat":"1","nbf":true,"exp":1e300,"active_context":{}}"#)
    #expect(claims == (try self.claims("{}")))
    #expect(claims.subject == nil && claims.issuedAt == nil && claims.expiresAt == nil)
  }

  @Test("STA-5 whole numbers as names keep all their digits")
  func numbers() throws {
    let claims = try claims(#"{"sub":9007199254740993,"jti":7}"#)
    #expect(claims.subject == "9007199254740993")
    #expect(claims.tokenID == "7")
  }

  @Test("STA-5 a payload is read with and without padding", arguments: 0..<6)
  func padding(length: Int) throws {
    let payload = #"{"sub":"ü?>~\#(String(repeating: "~", count: length))"}"#
    let bare = try TokenClaims(Secret("h.\(encode(payload)).s"))
    #expect(bare == (try TokenClaims(Secret("h.\(encode(payload, padded: true)).s"))))
    #expect(bare.subject == Identifier("ü?>~" + String(repeating: "~", count: length)))
  }

  @Test(
    "STA-5 a text without three non-empty parts is no token",
    arguments: [
      "", ".", "..", "a", "a.b", "a.b.", ".b.c", "a..c", "a.b.c.d", "a.b.c.",
    ])
  func parts(text: String) {
    #expect(throws: TokenClaims.Problem.notThreeParts) { try TokenClaims(Secret(text)) }
  }

  @Test(
    "STA-5 a payload that is not base64url is refused",
    arguments: [
      "a", "aaaaa", "e3 0", "e30==", "e30===", "=", "====", "e+0=", "e/0=", "é", "e=30", "aaaaaa=",
    ])
  func base64(text: String) {
    #expect(throws: TokenClaims.Problem.payloadNotBase64URL) {
      try TokenClaims(Secret("h.\(text).s"))
    }
  }

  @Test(
    "STA-5 a payload that is not a JSON object is refused",
    arguments: ["[]", "1", "{", "null", "\"x\""])
  func object(payload: String) {
    #expect(throws: TokenClaims.Problem.payloadNotObject) { try claims(payload) }
  }
}
