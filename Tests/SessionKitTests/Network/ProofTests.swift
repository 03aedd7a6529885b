import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import SessionKit

@Suite("Proofs of possession")
struct ProofTests {
  /// The key of the examples of RFC 9449.
  private static func key() throws -> ProofPublicKey {
    try ProofPublicKey(
      x: ProofServer.bytes("l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"),
      y: ProofServer.bytes("9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"))
  }

  private static let header =
    "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNo"
    + "UklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERW"
    + "clUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19"

  @Test(
    "INT-9 a proof is that of RFC 9449, with and without an access token",
    arguments: [
      (
        "POST", "https://server.example.com/token", "-BwC3ESc6acc2lTc", 1_562_262_616, nil,
        "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUu"
          + "Y29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ"
      ),
      (
        "GET", "https://resource.example.org/protectedresource?a=1#b", "e1j3V_bKic8-LAEB",
        1_562_262_618, "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU",
        "eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxl"
          + "Lm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0Ji"
          + "MHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9"
      ),
    ] as [(String, String, String, Int64, String?, String)])
  func example(
    method: String, url: String, id: String, time: Int64, token: String?, claims: String
  ) throws {
    let proof = ProofClaims(
      id: id, method: method, url: try #require(URL(string: url)), issuedAt: time,
      accessToken: token.map { Secret($0) })
    #expect(proof.text(by: try Self.key()) == "\(Self.header).\(claims)")
  }

  @Test("INT-9 the thumbprint of a key is that of RFC 7638, and a point has two coordinates")
  func thumbprint() throws {
    let key = try Self.key()
    #expect(key.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    #expect(try ProofPublicKey(x963: [4] + key.x + key.y) == key)
    for wrong in [[3] + key.x + key.y, [4] + key.x, []] {
      #expect(throws: ProofKeyError.self) { try ProofPublicKey(x963: wrong) }
    }
    #expect(throws: ProofKeyError.self) { try ProofPublicKey(x: key.x, y: []) }
  }

  @Test(
    "INT-9 the address of a proof has no query, fragment, user or capital host",
    arguments: [
      ("https://a.test", "https://a.test/"), ("HTTPS://A.Test/B?c#d", "https://a.test/B"),
      ("https://u:p@a.test:8443/x%2Fy", "https://a.test:8443/x%2Fy"),
    ])
  func target(url: String, target: String) throws {
    #expect(ProofClaims.target(of: try #require(URL(string: url))) == target)
  }

  @Test(
    "INT-9 a refused proof is repeated if the response brings news, and a nonce has no control characters",
    arguments: [
      ("use_dpop_nonce", "n-1", 0, true), ("use_dpop_nonce", nil, 0, false),
      ("use_dpop_nonce", "n 1", 0, false), ("use_dpop_nonce", "n\"", 0, false),
      ("invalid_dpop_proof", nil, 0, false), ("invalid_dpop_proof", nil, 60, true),
      ("invalid_dpop_proof", nil, -60, true), ("invalid_dpop_proof", nil, 5, false),
      ("invalid_token", "n-1", 60, false), (nil, "n-1", 60, false),
    ] as [(String?, String?, Int64, Bool)])
  func memory(code: String?, nonce: String?, skew: Int64, isNews: Bool) throws {
    let url = try #require(URL(string: "https://a.test/x"))
    let (tokens, calls) = (
      ProofMemory.Server(of: url, issuesTokens: true),
      ProofMemory.Server(of: url, issuesTokens: false)
    )
    let now = ClockReading(time: Timestamp(milliseconds: 1_000_000), uptime: 5_000)
    var memory = ProofMemory()
    let proof = ProofClaims(
      id: "1", method: "GET", url: url, issuedAt: memory.issueTime(at: calls, now))
    let reply = ProofMemory.Reply(
      nonce: nonce, code: code, serverTime: now.time.advanced(by: skew * 1000))
    #expect(memory.take(reply, to: proof, of: calls, at: now) == (isNews ? code : nil))
    #expect(memory.nonce(of: calls) == (nonce == "n-1" ? nonce : nil))
    #expect(memory.nonce(of: tokens) == nil)
    // The server's clock goes on, whatever the device's clock is set to.
    let later = ClockReading(time: Timestamp(milliseconds: 0), uptime: 8_000)
    #expect(memory.issueTime(at: calls, later) == 1_003 + skew)
    #expect(memory.issueTime(at: tokens, later) == 0)
  }

  @Test(
    "INT-9 a signature in DER becomes r and s",
    arguments: [
      ([0x30, 6, 2, 1, 1, 2, 1, 2], (1, 2)), ([0x30, 7, 2, 2, 0, 0x80, 2, 1, 3], (0x80, 3)),
      ([0x30, 6, 2, 1, 0, 2, 1, 0], (0, 0)), ([0x30, 6, 2, 1, 1, 2, 1], nil), ([], nil),
      ([0x31, 6, 2, 1, 1, 2, 1, 2], nil), ([0x30, 3, 2, 1, 1], nil), ([0x30, 0x81, 6], nil),
      ([0x30, 40, 2, 35, 1] + Array(repeating: 1, count: 34) + [2, 1, 1], nil),
    ] as [([UInt8], (UInt8, UInt8)?)])
  func der(bytes: [UInt8], last: (UInt8, UInt8)?) throws {
    guard let last else {
      #expect(throws: ProofKeyError.self) { try ProofSignature.raw(der: bytes) }
      return
    }
    let raw = try ProofSignature.raw(der: bytes)
    #expect(raw.count == 64 && raw[31] == last.0 && raw[63] == last.1)
    #expect(raw[..<31].allSatisfy { $0 == 0 } && raw[32..<63].allSatisfy { $0 == 0 })
  }
}
