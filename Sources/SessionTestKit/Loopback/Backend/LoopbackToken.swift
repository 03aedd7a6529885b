/// A maker of access tokens that look like JWTs and cannot be verified.
///
/// A token has three base64url parts without padding (RFC 7515 §3.1) and the header `HS256`. The
/// signature is a deterministic digest without a key, so a client that verifies it rejects the
/// token. The tokens are for clients that read claims only as hints, as this library does.
///
/// - Requirement: STA-5
public enum LoopbackToken {
  /// Returns a well-formed token with the given claims.
  public static func make(claims: [String: WireValue]) -> String {
    make(payload: WireValue.object(claims).bytes)
  }

  /// Returns a token whose claims are these bytes of JSON.
  package static func make(payload: [UInt8]) -> String {
    let header: WireValue = ["alg": "HS256", "typ": "JWT"]
    let signed = base64URL(header.bytes) + "." + base64URL(payload)
    return signed + "." + base64URL(digest(of: signed))
  }

  /// Encodes bytes in the alphabet of RFC 4648 §5, without padding.
  package static func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    var pending: UInt32 = 0
    var bits = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(pending >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 {
      text.append(alphabet[Int(pending << UInt32(6 - bits) & 63)])
    }
    return text
  }

  private static func digest(of text: String) -> [UInt8] {
    // FNV-1a, stretched to the 32 bytes that an HS256 signature has.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    var stream = ByteStream(seed: hash)
    return stream.take(32)
  }
}
