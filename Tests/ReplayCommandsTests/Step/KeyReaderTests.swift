import Testing

@testable import ReplayCommands

@Suite("Keys from bytes")
struct KeyReaderTests {
  /// The keys of these bytes, followed by a pause.
  static func keys(_ text: String, pause: Bool = true) -> [StepKey] {
    keys(Array(text.utf8), pause: pause)
  }

  static func keys(_ bytes: [UInt8], pause: Bool = true) -> [StepKey] {
    var reader = KeyReader()
    var keys = bytes.compactMap { reader.push($0) }
    if pause, let last = reader.timeout() { keys.append(last) }
    return keys
  }

  @Test(
    "each sequence of a terminal results in its key",
    arguments: [
      ("\u{1B}[A", .up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left),
      ("\u{1B}OA", .up), ("\u{1B}OD", .left), ("\u{1B}[1;5C", .right), ("\u{1B}[H", .home),
      ("\u{1B}[F", .end), ("\u{1B}OH", .home), ("\u{1B}OF", .end), ("\u{1B}[1~", .home),
      ("\u{1B}[4~", .end), ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown),
      ("\u{1B}[6;2~", .pageDown),
      ("\u{1B}OP", .help), ("\u{1B}[11~", .help), ("\u{1B}[[A", .help), ("\u{1B}[P", .help),
      ("\r", .enter), ("\n", .enter), ("\u{7F}", .backspace), ("\u{8}", .backspace),
      ("\u{3}", .control("c")), ("\u{1A}", .control("z")), ("\u{C}", .control("l")),
      ("\u{1B}", .escape), ("q", .character("q")), ("é", .character("é")),
      ("語", .character("語")), ("😀", .character("😀")),
    ] as [(String, StepKey)])
  func known(bytes: String, key: StepKey) {
    #expect(Self.keys(bytes) == [key])
  }

  @Test("an unknown sequence is skipped as a whole, and the next bytes are a key")
  func unknown() {
    for sequence in [
      "\u{1B}[15~", "\u{1B}[2~", "\u{1B}[<0;10;5M", "\u{1B}[?1;2c", "\u{1B}x", "\u{1B}O1",
      "\u{1B}[200~text\u{1B}[201~".replacing("text", with: ""),
      "\u{1B}[" + String(repeating: "1;", count: 400) + "R", "\u{1B}[[B", "\u{1B}[\u{1}",
    ] {
      #expect(Self.keys(sequence + "j") == [.character("j")], "\(sequence.debugDescription)")
    }
  }

  @Test("ESC is a key if nothing follows, or another ESC")
  func escape() {
    #expect(Self.keys("\u{1B}", pause: false) == [])
    #expect(Self.keys("\u{1B}\u{1B}") == [.escape, .escape])
    #expect(Self.keys("\u{1B}\u{1B}[A") == [.escape, .up])
    var reader = KeyReader()
    #expect(reader.push(0x1B) == nil)
    #expect(reader.isPending)
    #expect(reader.timeout() == .escape)
    #expect(!reader.isPending)
    #expect(reader.timeout() == nil)
  }

  @Test("pasted text is read as text and not as commands")
  func paste() {
    #expect(
      Self.keys("\u{1B}[200~q\r\u{3}é\u{1B}[201~q")
        == [.pasted("q"), .pasted("é"), .character("q")])
    // An unfinished paste does not swallow keys that are pressed later.
    var reader = KeyReader()
    for byte in "\u{1B}[200~x".utf8 { _ = reader.push(byte) }
    _ = reader.push(0x1B)
    #expect(reader.timeout() == nil)
    #expect(reader.push(UInt8(ascii: "q")) == .character("q"))
  }

  @Test("bytes that are not text are not keys, and the reader accepts any bytes")
  func anyBytes() {
    #expect(Self.keys([0xC3, 0x28]) == [.character("(")])
    #expect(Self.keys([0xE0, 0x80, 0x80, 0x6A]) == [.character("j")])
    #expect(Self.keys([0xFF, 0x80, 0xED, 0xA0, 0x80, 0x6A]) == [.character("j")])
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
      // These bytes are drawn more often, because they begin sequences.
      let telling = bytes.map { $0 % 5 == 0 ? 0x1B : $0 % 7 == 0 ? 0x5B : $0 }
      for bytes in [bytes, telling] {
        var reader = KeyReader()
        for byte in bytes { _ = reader.push(byte) }
        _ = reader.timeout()
        #expect(!reader.isPending)
        // After a pause the reader is in its initial state.
        #expect(reader.push(UInt8(ascii: "q")) == .character("q"), "\(bytes)")
      }
    }
  }
}
