/// A second, simple reader of payloads by Specs/ChangeLog.md; it returns the values as words, in
/// order.
enum ChangeModel: Equatable {
  /// The kind or the version is not in the specification.
  case unknown
  /// The payload is invalid.
  case wrong
  /// The values in the order of the specification.
  case values([String])

  static func read(kind: UInt8, _ payload: [UInt8]) -> ChangeModel {
    var walk = Walk(rest: payload[...])
    walk.time()
    let version = walk.number(1)
    // A version of 0 is invalid for every kind.
    guard !walk.isWrong, version > 0 else { return .wrong }
    switch (kind, version) {
    case (0xA0, 1):
      walk.id()
      walk.change()
    case (0xA1, 1): walk.sent()
    case (0xA2, 1): walk.id()
    case (0xA3, 1): walk.postponed()
    case (0xA4, 1):
      walk.id()
      walk.count(1)
      walk.reason()
    case (0xA5, 1):
      walk.id(orNone: true)
      walk.count(1)
    case (0xA6, 1):
      walk.text()
      walk.time()
    case (0xA7, 1), (0xA9, 1): walk.signIn()
    case (0xA8, 1): walk.leaving()
    case (0xAA, 1): walk.id()
    case (0x7F, 0xA0): walk.snapshot()
    case (0x7F, 0xA1): walk.signIns(of: walk.snapshot())
    default: return .unknown
    }
    return walk.isWrong || !walk.rest.isEmpty ? .wrong : .values(walk.values)
  }

  /// A walk over the fields of a payload; after an error all further fields are ignored.
  private struct Walk {
    var rest: ArraySlice<UInt8>
    var values: [String] = []
    var isWrong = false

    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
      guard !isWrong, rest.count >= count else {
        isWrong = true
        return []
      }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    mutating func number(_ size: Int) -> UInt64 {
      let bytes = take(size)
      return bytes.count == size ? bytes.number(0, size) : 0
    }

    @discardableResult
    mutating func count(_ size: Int) -> UInt64 {
      let value = number(size)
      values.append("\(value)")
      return value
    }

    @discardableResult
    mutating func time() -> Int64 {
      let time = Int64(bitPattern: number(8))
      values.append("\(time)")
      return time
    }

    mutating func flag() -> Bool {
      let value = number(1)
      if value > 1 { isWrong = true }
      values.append("\(value)")
      return value == 1
    }

    mutating func bytes() { values.append("\(Array(take(Int(number(4)))))") }

    @discardableResult
    mutating func text() -> String {
      let text = String(validating: take(Int(number(4))), as: UTF8.self)
      if text == nil { isWrong = true }
      values.append(text ?? "")
      return text ?? ""
    }

    /// Reads a reason; a reader keeps at most 512 characters of it.
    mutating func reason() {
      let text = text()
      guard text.utf8.count > 512 else { return }
      values[values.count - 1] = String(String.UnicodeScalarView(text.unicodeScalars.prefix(512)))
    }

    @discardableResult
    mutating func id(orNone: Bool = false) -> String {
      switch number(1) {
      case 0 where orNone && !isWrong: values.append("-")
      case 1:
        let digits = take(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        var text = ""
        for (place, digit) in digits.enumerated() {
          text += ([4, 6, 8, 10].contains(place) ? "-" : "") + digit
        }
        values.append(text)
      case 2: text()
      default: isWrong = true
      }
      return values.last ?? ""
    }

    mutating func entity() {
      text()
      text()
      id()
    }

    /// Reads a list; returns the number of its items.
    @discardableResult
    mutating func list(_ item: (inout Walk) -> Void) -> UInt64 {
      let count = count(4)
      for _ in 0..<count {
        if isWrong { break }
        item(&self)
      }
      return count
    }

    /// Reads a change; returns its key.
    @discardableResult
    mutating func change() -> String {
      let key = id()
      switch count(1) {
      case let operation where operation <= 2:
        entity()
        let before = rest
        bytes()
        list { $0.entity() }
        if operation == 2, before.prefix(8).contains(where: { $0 != 0 }) { isWrong = true }
      case 0x10: request()
      default: isWrong = true
      }
      return key
    }

    mutating func request() {
      let method = text()
      let path = text()
      let contentType = flag() ? text() : ""
      bytes()
      let letters = method.utf8.allSatisfy {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
      }
      let isPath =
        path.utf8.starts(with: "/".utf8) && !path.utf8.starts(with: "//".utf8)
        && path.utf8.count <= 8_192 && path.utf8.allSatisfy { 0x21 <= $0 && $0 <= 0x7E }
      let isType =
        contentType.utf8.count <= 1_024 && contentType.utf8.allSatisfy { 0x20 <= $0 && $0 <= 0x7E }
      let isMethod = letters && (1...16).contains(method.utf8.count)
      if !isMethod || !isPath || !isType { isWrong = true }
    }

    mutating func sent() {
      id()
      id()
      count(4)
      time()
    }

    mutating func postponed() {
      id()
      _ = flag()
      time()
      reason()
    }

    /// Reads a sign-in; returns its journal.
    @discardableResult
    mutating func signIn() -> String {
      let journal = id()
      count(8)
      return journal
    }

    /// Reads a pending logout; returns the journal and the end of the hold.
    @discardableResult
    mutating func leaving() -> (journal: String, until: Int64) {
      let journal = id()
      count(4)
      return (journal, time())
    }

    /// Reads a sign-in that may be missing; returns whether it is there.
    mutating func signInOrNone() -> Bool {
      let isThere = flag()
      if isThere { signIn() }
      return isThere
    }

    /// Reads the fields that version 0xA1 of a snapshot has after those of version 0xA0.
    mutating func signIns(of counts: (pending: UInt64, failures: UInt64)) {
      guard !isWrong else { return }
      var saysAnything = false
      for _ in 0..<counts.pending {
        if signInOrNone() { saysAnything = true }
        if flag() { saysAnything = true }
      }
      for _ in 0..<counts.failures where signInOrNone() { saysAnything = true }
      if signInOrNone() { saysAnything = true }
      var ended: [String] = []
      list { walk in ended.append(walk.signIn()) }
      var leaving: [String] = []
      list { walk in
        let (journal, until) = walk.leaving()
        if walk.time() >= until { walk.isWrong = true }
        leaving.append(journal)
      }
      for journals in [ended, leaving] {
        // At most 64 journals are kept, and each only once; journals are the same if their bytes
        // are.
        if journals.count > 64 || Set(journals.map { Array($0.utf8) }).count < journals.count {
          isWrong = true
        }
        if !journals.isEmpty { saysAnything = true }
      }
      // A snapshot without such values must have version 0xA0.
      if !saysAnything { isWrong = true }
    }

    /// Reads a snapshot; returns the number of pending changes and of dead letters.
    @discardableResult
    mutating func snapshot() -> (pending: UInt64, failures: UInt64) {
      var keys: [String] = []
      let pending = list { walk in
        walk.id()
        let key = walk.change()
        walk.time()
        let isSent = walk.flag()
        if isSent { walk.sent() }
        walk.time()
        let sends = walk.count(4)
        walk.count(4)
        if walk.flag() { walk.postponed() }
        walk.time()
        let isKnown = keys.contains { $0.utf8.elementsEqual(key.utf8) }
        if isKnown || isSent != (sends > 0) || (isSent && !keys.isEmpty) {
          walk.isWrong = true
        }
        keys.append(key)
      }
      let failures = list { walk in
        walk.id()
        walk.change()
        walk.count(1)
        // The reason was cut when the change was given up.
        walk.text()
        walk.time()
      }
      var scopes: [(name: String, time: String)] = []
      list { walk in
        let name = walk.text()
        walk.time()
        let time = walk.values.removeLast()
        walk.values.removeLast()
        // Spellings that are canonically equivalent name the same scope.
        if let place = scopes.firstIndex(where: { $0.name == name }) {
          scopes[place].time = time
        } else {
          scopes.append((name, time))
        }
      }
      guard !isWrong else { return (0, 0) }
      values.removeLast()
      scopes.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      values += ["\(scopes.count)"] + scopes.flatMap { [$0.name, $0.time] }
      return (pending, failures)
    }
  }
}
