import Foundation
import SessionCore
import SessionHTTP
import Testing

@testable import SessionTestKit

@Suite struct LoopbackTokenTests {
  @Test func aTokenIsThreePartsOfUnpaddedBase64URL() throws {
    let token = LoopbackToken.make(claims: ["sub": "ü?>", "exp": 12])
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    #expect(parts.count == 3)
    #expect(try decoded(parts[0]) == #"{"alg":"HS256","typ":"JWT"}"#)
    #expect(try decoded(parts[1]) == #"{"exp":12,"sub":"ü?>"}"#)
    #expect(parts[2].count == 43)
    #expect(!token.contains("=") && !token.contains("+") && !token.contains("/"))
    #expect(token == LoopbackToken.make(claims: ["exp": 12, "sub": "ü?>"]))
    #expect(token != LoopbackToken.make(claims: ["exp": 13, "sub": "ü?>"]))
  }

  @Test func base64URLAgreesWithFoundation() {
    var stream = ByteStream(seed: 7)
    for length in 0..<70 {
      let bytes = stream.take(length)
      let expected = Data(bytes).base64EncodedString()
        .replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
      #expect(LoopbackToken.base64URL(bytes) == expected)
    }
  }

  @Test func identifiersAreCanonicalVersion4() throws {
    var stream = ByteStream(seed: 1)
    let texts = (0..<100).map { _ in stream.uuid() }
    #expect(Set(texts).count == 100)
    for text in texts {
      let uuid = try #require(UUID(uuidString: text))
      #expect(uuid.uuidString.lowercased() == text)
      #expect(uuid.uuid.6 >> 4 == 4 && uuid.uuid.8 >> 6 == 2)
    }
  }

  @Test func dateIsWrittenAsTheRFCWantsIt() {
    #expect(Timestamp(milliseconds: 784_111_777_999).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(Timestamp(milliseconds: 0).httpDate == "Thu, 01 Jan 1970 00:00:00 GMT")
    #expect(Timestamp(milliseconds: -1).httpDate == "Wed, 31 Dec 1969 23:59:59 GMT")
    #expect(Timestamp(milliseconds: 951_782_400_000).httpDate == "Tue, 29 Feb 2000 00:00:00 GMT")
    #expect(Timestamp(milliseconds: 4_107_542_400_000).httpDate == "Mon, 01 Mar 2100 00:00:00 GMT")
  }

  @Test func jsonTextEscapesWhatItMust() throws {
    let value: WireValue = [
      "b": ["\"\\\n\u{1}é", 1, -2.5, true, nil], "a": .double(.nan), "c": [:],
    ]
    let text = String(decoding: value.bytes, as: UTF8.self)
    #expect(text == #"{"a":null,"b":["\"\\\n\u0001é",1,-2.5,true,null],"c":{}}"#)
    _ = try JSONSerialization.jsonObject(with: Data(value.bytes))
  }

  private func decoded(_ part: Substring) throws -> String {
    var text = part.replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
  }
}
