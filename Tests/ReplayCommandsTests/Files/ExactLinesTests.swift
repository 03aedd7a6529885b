@_spi(Internals) import SessionCore
import SessionExplain
import SessionJSON
import SessionTestKit
import SessionTesting
import Testing

@testable import ReplayCommands

@Suite("Lines that are spelled exactly as an export spells them")
struct ExactLinesTests {
  /// A line as both ways read it; `nil` if it is no good line.
  private func read(_ line: String) -> (exact: ImportRecord?, any: ImportRecord?) {
    let bytes = Array(line.utf8)
    var (lines, tape) = (ExactLines(), JSONTape())
    return (
      bytes.withUnsafeBufferPointer { lines.record($0) },
      ImportRecord(parsing: bytes[...], &tape)
    )
  }

  private func lines(_ choices: Choices) -> [String] {
    let redaction =
      choices.chance(1, in: 2) ? Redaction(pseudonyms: Pseudonyms(low: 1, high: 2)) : nil
    let writer = ExportLines(redaction: redaction)
    // Any record may have any time and each optional field.
    let history = choices.chance(1, in: 2) ? History.legal(upTo: 40) : History.any(upTo: 40)
    return history(choices).records.map { record in
      let payload = SessionCodec.encode(record.content, at: record.time).payload
      let line = writer.record(ExportItem(record: record, remainingInBatch: 0, payload: payload))
      return String(line.dropLast())
    }
  }

  @Test("RPL-4 lines of an export are read exactly, and mean the same when they are parsed")
  func exported() {
    expect(
      Property(
        "exact lines", cases: Sweep("exact lines", takingOneOf: 4).cases(of: 200),
        regressions: RegressionFolder()
      ).check { choices in
        for line in lines(choices) {
          let (exact, any) = read(line)
          if let exact {
            try choices.require(exact == any, "\(line)")
          } else {
            try choices.require(any != nil, "\(line)")
          }
          let isPlain =
            ["\"class\":\"event\"", "\"class\":\"note\""].contains(where: line.contains)
            && !["\\", "\"dropped\""].contains(where: line.contains)
            && line.utf8.allSatisfy { $0 < 0x80 }
          try choices.require((exact != nil) == isPlain, "\(line)")
        }
      })
  }

  @Test("RPL-4 each kind of event and note is read exactly, with the payload that a session writes")
  func kinds() {
    expect(
      Property("exact kinds", cases: 50, regressions: RegressionFolder()).check { choices in
        let contents =
          SessionEvent.Kind.allCases.map {
            SessionRecord.Content.event(Generator.event($0)(choices))
          }
          + SessionNote.Kind.allCases.map { .note(Generator.note($0)(choices)) }
        for content in contents {
          let (text, payload) = line(content)
          guard text.utf8.allSatisfy({ $0 < 0x80 }), !text.contains("\\") else { continue }
          try choices.require(read(text).exact?.payload == payload, "\(text)")
        }
      })
  }

  @Test("RPL-4 the meaning of a refused refresh is read exactly")
  func meaning() throws {
    let meaning = ErrorMeaning.clientRefused
    let failure = RequestFailure(kind: .rejected, status: 400, serverCode: "invalid_grant")
    let (text, payload) = line(
      .event(
        .refreshFailed(
          .init(
            generation: Generation(1), trigger: .schedule, attempt: 1, failure: failure,
            retryAt: nil, request: 3, configuredMeaning: meaning))))
    try #require(text.contains("\"meaning\""))
    #expect(read(text).exact?.payload == payload)
  }

  @Test("RPL-4 a line with one other byte is read exactly only if it is also a good line")
  func changed() {
    expect(
      Property(
        "changed lines", cases: Sweep("changed lines", takingOneOf: 4).cases(of: 300),
        regressions: RegressionFolder()
      ).check { choices in
        guard let line = choices.pick(lines(choices)) else { return }
        var bytes = Array(line.utf8)
        let place = choices.draw(in: 0...bytes.count - 1)
        switch choices.draw(in: 0...3) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(UInt8(ascii: " "), at: place)
        case 2: bytes[place] = choices.pick(Array("\"{}[],:0129-.eantl\\\u{7F}".utf8)) ?? 0
        default: bytes.insert(bytes[place], at: place)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let (exact, any) = read(text)
        if let exact { try choices.require(exact == any, "\(text)") }
      })
  }

  private func line(_ content: SessionRecord.Content) -> (text: String, payload: [UInt8]) {
    let record = SessionRecord(
      sequence: 7, time: Timestamp(milliseconds: 1_000), content: content)
    let payload = SessionCodec.encode(record.content, at: record.time).payload
    let item = ExportItem(record: record, remainingInBatch: 0, payload: payload)
    return (String(ExportLines(redaction: nil).record(item).dropLast()), payload)
  }

  @Test(
    "RPL-4 a list is read exactly if it has the spelling and the order of an export",
    arguments: [
      ("\"a\",\"b\"", "\"b\",\"a\""), ("\"a\",\"b\"", "\"a\",\"a\""),
      ("\"a\",\"b\"", "\"a\"\"b\""), ("[\"a\"", "[,\"a\""), ("\"c\"]", "\"c\",]"),
      ("\"c\"]", "\"c\""), ("\"c\"]", "\"c\"]]"), ("[\"a\"", "\"a\""),
    ])
  func list(from: String, to: String) throws {
    let context = ActiveContext(
      role: .init(id: "role", name: ""), permissions: ["a", "b", "c"])
    let (text, payload) = line(
      .event(.contextSwitched(.init(context: context, token: nil, trigger: .user, request: 0))))
    try #require(read(text).exact?.payload == payload)
    let changed = text.replacing(from, with: to)
    try #require(changed != text)
    #expect(read(changed).exact == nil)
  }

  @Test("RPL-4 a platform without an identity is not read exactly, as no journal can hold it")
  func platform() throws {
    let identity = ProcessIdentity(
      opening: "opening", boot: nil, namespace: nil, start: 5, lock: nil)
    let (text, payload) = line(
      .note(
        .opened(
          .init(
            process: 1, boot: nil, uptime: 2, app: AppVersion("1.0"), identity: identity,
            platform: .linux))))
    try #require(read(text).exact?.payload == payload)
    let member = try #require(text.firstMatch(of: /"identity":\{[^}]*\},/))
    let (exact, any) = read(text.replacing(member.output, with: ""))
    #expect(exact == nil)
    #expect(any == nil)
  }

  @Test(
    "RPL-4 another spelling is not read exactly",
    arguments: [
      ("\"sequence\":7", "\"sequence\":07"), ("\"sequence\":7", "\"sequence\":7.0"),
      ("\"sequence\":7", "\"sequence\":-7"), ("\"sequence\":7", "\"sequence\":7e0"),
      ("\"sequence\":7", "\"sequence\":18446744073709551616"),
      ("InBatch\":0", "InBatch\":-0"), ("InBatch\":0", "InBatch\":65536"),
      ("\"v\":1", "\"v\":2"), ("\"v\":1", "\"v\": 1"), ("\"v\":1", "\"v\":1,\"v\":1"),
      ("\"v\":1,", ""), ("\"event\"", "\"note\""), ("\"event\"", "\"\\u0065vent\""),
      ("\"user\"}", "\"user\",\"user\":1}"), ("\"user\"}", "\"user\""), ("\"user\"", "\"another\""),
      ("}}", "}},"), ("}}", "}}}"), ("}}", "},\"payload\":\"00\"}"), ("\"logout\"", "\"lögout\""),
      ("\"name\":\"logout\",", ""),
    ])
  func otherwise(from: String, to: String) throws {
    let (text, payload) = line(.event(.logout(.init(reason: .user))))
    try #require(read(text).exact?.payload == payload)
    let changed = text.replacing(from, with: to)
    try #require(changed != text)
    #expect(read(changed).exact == nil)
  }
}
