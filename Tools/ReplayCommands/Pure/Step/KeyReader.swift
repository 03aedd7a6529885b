/// Reads keys from the bytes that a terminal sends.
///
/// It accepts any bytes. Bytes that are no key are skipped; an unknown sequence is skipped as a
/// whole.
struct KeyReader: Equatable, Sendable {
  private enum State: Equatable, Sendable {
    case ground
    /// After `ESC`.
    case escape
    /// After `ESC O`.
    case single
    /// After `ESC [`, with the bytes since then.
    case sequence([UInt8])
    /// After `ESC [ [`, with which a console begins its function keys.
    case console
    /// Within a scalar of several bytes.
    case scalar([UInt8], missing: Int)
  }

  /// A length that no known sequence has.
  private static let longestSequence = 16

  private var state = State.ground
  private var isPasting = false

  /// Whether the next byte may belong to the bytes before it.
  var isPending: Bool { state != .ground }

  /// Takes the next byte; returns the key that it completes, if any.
  mutating func push(_ byte: UInt8) -> StepKey? {
    switch state {
    case .ground:
      return ground(byte)
    case .escape:
      return escape(byte)
    case .single:
      state = .ground
      return Self.single(byte)
    case .sequence(let bytes):
      return sequence(bytes, byte)
    case .console:
      state = .ground
      return byte == UInt8(ascii: "A") ? .help : nil
    case .scalar(let bytes, let missing):
      return scalar(bytes, missing, byte)
    }
  }

  /// Reports that no byte came for a while; returns `ESC` as a key if it came alone.
  mutating func timeout() -> StepKey? {
    defer {
      state = .ground
      isPasting = false
    }
    return state == .escape && !isPasting ? .escape : nil
  }

  private mutating func ground(_ byte: UInt8) -> StepKey? {
    switch byte {
    case 0x1B:
      state = .escape
      return nil
    case 0x0A, 0x0D: return isPasting ? nil : .enter
    case 0x08, 0x7F: return isPasting ? nil : .backspace
    case 0x01...0x1A:
      return isPasting ? nil : .control(Unicode.Scalar(byte + 0x60))
    case 0x00, 0x1C...0x1F: return nil
    case 0x20...0x7E: return character(Unicode.Scalar(byte))
    case 0xC2...0xDF: state = .scalar([byte], missing: 1)
    case 0xE0...0xEF: state = .scalar([byte], missing: 2)
    case 0xF0...0xF4: state = .scalar([byte], missing: 3)
    default: break
    }
    return nil
  }

  private func character(_ scalar: Unicode.Scalar) -> StepKey {
    isPasting ? .pasted(scalar) : .character(scalar)
  }

  private mutating func scalar(_ bytes: [UInt8], _ missing: Int, _ byte: UInt8) -> StepKey? {
    guard byte & 0xC0 == 0x80 else {
      // The bytes are no scalar. This byte may begin another key.
      state = .ground
      return ground(byte)
    }
    guard missing == 1 else {
      state = .scalar(bytes + [byte], missing: missing - 1)
      return nil
    }
    state = .ground
    let text = String(decoding: bytes + [byte], as: UTF8.self)
    guard let found = text.unicodeScalars.first, found != "\u{FFFD}" else { return nil }
    return character(found)
  }

  private mutating func escape(_ byte: UInt8) -> StepKey? {
    switch byte {
    case UInt8(ascii: "["): state = .sequence([])
    case UInt8(ascii: "O"): state = .single
    // A second `ESC` begins a new key; the first one was a key of its own.
    case 0x1B: return isPasting ? nil : .escape
    // A key that was pressed with Alt.
    default: state = .ground
    }
    return nil
  }

  private mutating func sequence(_ bytes: [UInt8], _ byte: UInt8) -> StepKey? {
    switch byte {
    case 0x20...0x3F:
      // A sequence that is too long is skipped to its end, so that no part of it counts as a key.
      state = .sequence(bytes.count < Self.longestSequence ? bytes + [byte] : bytes)
      return nil
    case UInt8(ascii: "[") where bytes.isEmpty:
      state = .console
      return nil
    case 0x40...0x7E:
      state = .ground
      return finish(bytes, byte)
    case 0x1B:
      state = .escape
      return nil
    default:
      state = .ground
      return nil
    }
  }

  private mutating func finish(_ bytes: [UInt8], _ last: UInt8) -> StepKey? {
    // The number after a semicolon says whether Shift, Alt and Control were pressed.
    let number = bytes.prefix { (0x30...0x39).contains($0) }
    guard last == UInt8(ascii: "~") else {
      let isPlain = bytes.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ";") }
      return isPlain && !isPasting ? Self.single(last) : nil
    }
    switch String(decoding: number, as: UTF8.self) {
    case "200":
      isPasting = true
      return nil
    case "201":
      isPasting = false
      return nil
    case let name: return isPasting ? nil : Self.numbered[name]
    }
  }

  private static let numbered: [String: StepKey] = [
    "1": .home, "4": .end, "5": .pageUp, "6": .pageDown, "7": .home, "8": .end, "11": .help,
  ]

  private static func single(_ byte: UInt8) -> StepKey? {
    switch Unicode.Scalar(byte) {
    case "A": .up
    case "B": .down
    case "C": .right
    case "D": .left
    case "F": .end
    case "H": .home
    case "M": .enter
    case "P": .help
    default: nil
    }
  }
}
