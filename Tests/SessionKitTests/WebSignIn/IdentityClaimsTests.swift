import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Testing

@Suite("Claims of an identity token")
struct IdentityClaimsTests {
  @Test("WEB-5 the claims that B2C issues are read, also nested ones and arrays")
  func all() throws {
    let claims = try IdentityClaims(
      FakeIdentity.idToken(
        """
        {"sub":"s-1","emails":["ana@school.test","b@c.d"],"name":"Ana","given_name":"A",
         "family_name":"B","tfp":"B2C_1_signin","auth_time":1,
         "permissions":["materials:read",7,null,"materials:write"],
         "scp":"read  write","extension":{"school":{"roles":["teacher"],"id":"x"}},
         "newUser":true,"other":"false"}
        """))
    #expect(claims.subject == "s-1" && claims.email == "ana@school.test")
    #expect(claims.name == "Ana" && claims.givenName == "A" && claims.familyName == "B")
    #expect(claims.userFlow == "B2C_1_signin")
    #expect(claims.texts("permissions") == ["materials:read", "materials:write"])
    #expect(claims.texts("scp") == ["read", "write"])
    #expect(claims.texts("extension.school.roles") == ["teacher"])
    #expect(claims.text("extension.school.id") == "x")
    #expect(claims.flag("newUser") == true && claims.flag("other") == false)
    #expect(claims.time("auth_time") == Timestamp(milliseconds: 1000))
  }

  @Test("WEB-5 a claim with dots in its name is found by its name before it is read as a path")
  func dots() throws {
    let claims = try IdentityClaims(
      FakeIdentity.idToken(
        #"{"https://app.test/roles":["a"],"a.b":"whole","a":{"b":"nested","c":"in"},"x.y":true}"#))
    #expect(claims.texts("https://app.test/roles") == ["a"])
    #expect(claims.text("a.b") == "whole" && claims.text("a.c") == "in")
    #expect(claims.flag("x.y") == true)
  }

  @Test("WEB-5 a claim of another type counts as missing")
  func missing() throws {
    let claims = try IdentityClaims(
      FakeIdentity.idToken(#"{"sub":{},"name":7,"emails":[],"a":{"b":1},"t":"1"}"#))
    #expect(claims.subject == nil && claims.name == nil && claims.email == nil)
    #expect(claims.texts("a").isEmpty && claims.texts("a.b.c").isEmpty && claims.texts("z").isEmpty)
    #expect(claims.flag("a") == nil && claims.flag("t") == nil && claims.time("t") == nil)
  }

  @Test(
    "WEB-5 a payload may have padding, and a payload in standard base64 is refused",
    arguments: 0..<6)
  func alphabets(length: Int) throws {
    let payload = #"{"name":"ü?>~\#(String(repeating: "~", count: length))"}"#
    let common = Data(payload.utf8).base64EncodedString()
    let url = common.replacingOccurrences(of: "+", with: "-").replacingOccurrences(
      of: "/", with: "_")
    for text in [url, url.replacingOccurrences(of: "=", with: "")] {
      let claims = try IdentityClaims(Secret("h.\(text).s"))
      #expect(claims.name == "ü?>~" + String(repeating: "~", count: length))
    }
    guard common != url else { return }
    #expect(throws: TokenClaims.Problem.payloadNotBase64URL) {
      try IdentityClaims(Secret("h.\(common).s"))
    }
  }

  @Test("WEB-5 a text without claims throws its problem, and no description shows a claim")
  func problems() throws {
    let texts: [(String, TokenClaims.Problem)] = [
      ("opaque", .notThreeParts), ("a.b", .notThreeParts), ("h.#.s", .payloadNotBase64URL),
      ("h.W10.s", .payloadNotObject), ("h.e30==.s", .payloadNotBase64URL),
    ]
    for (text, problem) in texts {
      #expect(throws: problem, "\(text)") { try IdentityClaims(Secret(text)) }
    }
    let claims = try IdentityClaims(FakeIdentity.idToken(#"{"name":"Ana"}"#))
    #expect(!"\(claims)\(String(reflecting: claims))".contains("Ana"))
  }
}
