@_spi(Internals) import SessionCore

/// Draws of a session's values; the first option of every draw is the plainest.
extension Choices {
  /// Draws any bits of an integer; small numbers are the simplest, and the bounds are frequent.
  func number<Value: FixedWidthInteger>(_: Value.Type = Value.self) -> Value {
    switch draw(below: 5) {
    case 0: Value(truncatingIfNeeded: draw(below: 4))
    case 1: Value(truncatingIfNeeded: draw(below: 256))
    case 2: .max
    case 3: .min
    default: Value(truncatingIfNeeded: draw(below: .max))
    }
  }

  /// Draws a code, usually a known one, and sometimes the byte of a newer version.
  func code<Value: OpenEnum>(_: Value.Type = Value.self) -> Value {
    let known = Value.known
    guard !chance(1, in: 8), let code = pick(known) else {
      return Value(rawValue: UInt8(truncatingIfNeeded: draw(below: 256)))
    }
    return code
  }

  /// Runs `body` a drawn number of times, at most `limit`; 0 is the simplest.
  ///
  /// Each run is in a span of its own, so that the shrinker can remove it.
  package func repeating(upTo limit: Int, mean: UInt64, _ body: () -> Void) {
    for _ in 0..<limit {
      let goesOn: Bool = span {
        guard chance(mean, in: mean + 1) else { return false }
        body()
        return true
      }
      guard goesOn else { return }
    }
  }

  func text() -> String {
    span {
      switch draw(below: 8) {
      case 0: return "a"
      case 1: return ""
      case 2: return pick(Self.names) ?? ""
      case 3: return String(repeating: pick(["x", "é", "語", "👩‍👩‍👧"]) ?? "x", count: draw(in: 1...400))
      default:
        var scalars = String.UnicodeScalarView()
        repeating(upTo: 24, mean: 5) { scalars.append(scalar()) }
        return String(scalars)
      }
    }
  }

  private func scalar() -> Unicode.Scalar {
    let ranges: [ClosedRange<UInt32>] = [
      0x61...0x7A, 0x20...0x7E, 0xA0...0x24F, 0x300...0x36F, 0x400...0x4FF, 0x600...0x6FF,
      0x4E00...0x4FFF, 0x1F300...0x1F5FF, 0...0x1F, 0xE000...0xE0FF,
    ]
    let range = pick(ranges) ?? 0x61...0x7A
    let value = range.lowerBound + UInt32(draw(below: UInt64(range.count)))
    return Unicode.Scalar(value) ?? "a"
  }

  private static let names = [
    "Ada", "Colegio San José", "学校法人 北学園", "مدرسة الشمال", "Z\u{0}ero", "a\nb", "e\u{301}", "é",
    "\"quoted\", 'twice'", "<script>", "../../etc/passwd", "🏫", "\u{202E}right to left",
  ]

  /// Draws an app version; none is the simplest.
  func appVersion() -> AppVersion? {
    AppVersion(pick(["", "2.4.1+318", "0", String(repeating: "z", count: 64)]) ?? "")
  }

  func identifier() -> Identifier {
    span {
      switch draw(below: 4) {
      case 0: Identifier("u-\(draw(below: 4) + 1)")
      case 1: Identifier(uuidHigh: number(), low: number())
      case 2: Identifier(pick(Self.oddIdentifiers) ?? "")
      default: Identifier(text())
      }
    }
  }

  /// Texts that are nearly UUIDs, and texts that nearly equal each other.
  private static let oddIdentifiers = [
    "", " ", "0", "u-1 ", "U-1", "00000000-0000-0000-0000-000000000000",
    "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "6ba7b810-9dad-11d1-80b4-00c04fd430c",
    "6ba7b8109dad11d180b400c04fd430c8", "6ba7b810-9dad-11d1-80b4-00c04fd430cg",
    "auth0|5f7c8ec7c33c6c004bbafe82", "ada@example.org", "é", "e\u{301}",
  ]

  func timestamp() -> Timestamp {
    let offset = draw(below: 6) == 0 ? 0 : Int64(truncatingIfNeeded: draw(below: 1 << 33))
    switch draw(below: 6) {
    case 0, 1: return Timestamp.plainStart.advanced(by: offset)
    case 2: return Timestamp(milliseconds: 1_700_000_000_000 + offset)
    case 3: return Timestamp(milliseconds: -offset)
    case 4: return Timestamp(milliseconds: pick(Self.extremeTimes) ?? 0)
    default: return Timestamp(milliseconds: number())
    }
  }

  /// The bounds, the first and last times that RFC 3339 can write, and 2038.
  private static let extremeTimes: [Int64] = [
    0, -1, 1, .min, .max, .min + 1, .max - 1, -62_135_596_800_000, -62_167_219_200_001,
    253_402_300_799_999, 253_402_300_800_000, 2_147_483_648_000,
  ]

  func generation() -> Generation {
    Generation(number())
  }

  func token(_ generation: Generation? = nil) -> TokenMetadata {
    span {
      TokenMetadata(
        generation: generation ?? self.generation(), issuedAt: timestamp(), expiresAt: timestamp(),
        id: chance(1, in: 2) ? identifier() : nil, isRefreshable: !chance(1, in: 4))
    }
  }

  func context() -> ActiveContext {
    span {
      ActiveContext(
        role: named(), school: chance(1, in: 2) ? named() : nil,
        unit: chance(1, in: 3) ? named() : nil, permissions: permissions())
    }
  }

  private func named() -> ActiveContext.Named {
    ActiveContext.Named(id: identifier(), name: text())
  }

  /// Draws no permissions, a few, or as many as a real role has.
  private func permissions() -> [String] {
    switch draw(below: 4) {
    case 0: return []
    case 1, 2:
      var permissions: [String] = []
      repeating(upTo: 8, mean: 3) { permissions.append(permission()) }
      return permissions
    default:
      let count = draw(in: 50...300)
      return (0..<count).map { "resource\($0):\($0 % 2 == 0 ? "read" : "write")" }
    }
  }

  private func permission() -> String {
    let resource = pick(["materials", "users", "grades", "*", ""]) ?? ""
    return chance(1, in: 6) ? text() : "\(resource):\(pick(["read", "write", "all"]) ?? "")"
  }

  func failure() -> RequestFailure {
    span {
      RequestFailure(
        kind: code(), status: chance(1, in: 2) ? UInt16(draw(in: 400...599)) : number(),
        serverCode: pick([nil, "TOKEN_EXPIRED", "invalid_grant", "DB_TIMEOUT", "not a code", ""])
          ?? nil, retryAfter: chance(1, in: 3) ? .milliseconds(number() as Int64) : nil)
    }
  }
}
