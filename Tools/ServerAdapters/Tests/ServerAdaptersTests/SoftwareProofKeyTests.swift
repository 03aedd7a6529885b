import Crypto
import Foundation
import ServerAdapters
import SessionKit
import Testing

@Suite("Proofs by swift-crypto")
struct SoftwareProofKeyTests {
  @Test("INT-9 swift-crypto verifies the signature of a proof with the key in its header")
  func proof() async throws {
    let key = P256.Signing.PrivateKey()
    let proof = try await ProofOfPossession(key: SoftwareProofKey(key)).proof(
      method: "GET", url: try #require(URL(string: "https://api.test/notes")),
      token: AccessToken(Secret("a"), generation: Generation(1), expiresAt: .distantFuture))
    let parts = proof.split(separator: ".")
    let header = try #require(
      try JSONSerialization.jsonObject(with: bytes(parts[0])) as? [String: Any])
    let jwk = try #require(header["jwk"] as? [String: String])
    let point = try bytes(Substring(jwk["x"] ?? "")) + bytes(Substring(jwk["y"] ?? ""))
    let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes(parts[2]))
    let text = Data("\(parts[0]).\(parts[1])".utf8)
    let shown = try P256.Signing.PublicKey(rawRepresentation: point)
    #expect(shown.isValidSignature(signature, for: text))
    #expect(shown.rawRepresentation == key.publicKey.rawRepresentation)
  }

  private func bytes(_ text: Substring) throws -> Data {
    let symbols = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
    return try #require(Data(base64Encoded: symbols + padding))
  }
}
