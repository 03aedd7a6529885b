@_spi(Internals) import SessionCore
import Testing

@Suite("SipHash")
struct SipHashTests {
  @Test("STO-3 SipHash-2-4-128 gives the values of its authors' table")
  func vectors() {
    let (low, high): (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
    for (length, expected) in [
      (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
      (7, "a1f1ebbed8dbc153c0b84aa61ff08239"), (8, "3b62a9ba6258f5610f83e264f31497b4"),
      (15, "5493e99933b0a8117e08ec0f97cfc3d9"), (63, "5150d1772f50834a503e069a973fbd7c"),
    ] {
      let digest = SipHash.digest(
        of: (0..<length).map { UInt8($0) }, low: low, high: high)
      #expect(digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
    }
  }
}
