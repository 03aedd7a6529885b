/// Zeros in a hand-made compression (RFC 1951, RFC 1952) with a very high ratio.
struct GzipBomb {
  let bytes: [UInt8]
  /// The number of bytes after decompression.
  let size: Int

  /// 124,099 zeros.
  static let small = GzipBomb(blocks: 60, checksum: 0xC1D_2B98)
  /// 16 MB of zeros in 104 KB.
  ///
  /// No larger: on Linux `URLSession` may hold the decompressed bytes, and other tests measure
  /// memory.
  static let large = GzipBomb(blocks: 8_000, checksum: 0xF669_2E88)

  /// One zero, and eight repetitions of 258 bytes for each block, with the fixed codes of deflate.
  private init(blocks: Int, checksum: UInt32) {
    size = 1 + 258 * (1 + 8 * blocks)
    let zero = GzipBomb.code(0x30, 8)
    let repetition = GzipBomb.code(0xC5, 8) + GzipBomb.code(0, 5)
    // The last block, with fixed codes. It fills a whole number of bytes, like every block.
    let start = GzipBomb.packed([1, 1, 0] + zero + repetition)
    let block = GzipBomb.packed((0..<8).flatMap { _ in repetition })
    var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + start
    for _ in 0..<blocks { bytes += block }
    bytes.append(0)
    for value in [checksum, UInt32(size)] {
      for shift: UInt32 in [0, 8, 16, 24] {
        bytes.append(UInt8(truncatingIfNeeded: value >> shift))
      }
    }
    self.bytes = bytes
  }

  /// A Huffman code, highest bit first.
  private static func code(_ value: UInt8, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { value >> UInt8($0) & 1 }
  }

  /// Bits in bytes, lowest first.
  private static func packed(_ bits: [UInt8]) -> [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { byte, bit in
        byte | bit.element << UInt8(bit.offset)
      }
    }
  }

  /// The response of a server.
  var reply: CallServer.Reply {
    .stream(
      200, fields: ["Content-Encoding": "gzip", "Content-Length": "\(bytes.count)"]
    ) { send in _ = send(bytes) }
  }
}
