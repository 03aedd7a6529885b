@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

// Codes of values that a later version can have more of.
extension ImportObject {
  mutating func code<Value: OpenEnum>(_ key: StaticString) throws(ImportProblem) -> Value {
    let word = try text(key)
    guard let code = Value(word: word) else {
      let near = Suggestion.nearest(to: word, in: Value.words)
      throw problem(key, "cannot be \"\(word.shortened)\"", next: near.map { "\"\($0)\"" })
    }
    return code
  }

  mutating func generation(_ key: StaticString) throws(ImportProblem) -> Generation {
    Generation(try number(key))
  }
}

// Values with rules of their own.
extension ImportObject {
  /// Reads the process that wrote a record; the line may lack it, because older versions export none.
  mutating func identity() throws(ImportProblem) -> ProcessIdentity? {
    guard has("identity") else { return nil }
    return try object("identity") { (identity) throws(ImportProblem) in
      ProcessIdentity(
        opening: try identity.identifier("opening"), boot: try identity.optionalIdentifier("boot"),
        namespace: try identity.optionalIdentifier("namespace"),
        start: try identity.number("start"), lock: try identity.optionalIdentifier("lock"))
    }
  }

  /// Reads the meaning of a server's code; a line without one has no such member.
  mutating func meaning(_ key: StaticString) throws(ImportProblem) -> ErrorMeaning? {
    has(key) ? try code(key) : nil
  }

  /// Reads the version of an app; the line may lack it, because older versions export none.
  mutating func version(_ key: StaticString) throws(ImportProblem) -> AppVersion? {
    guard has(key) else { return nil }
    return try optional(key) { (object, key) throws(ImportProblem) in
      guard let version = AppVersion(try object.text(key)) else {
        throw object.problem(key, "is no version: 1 to 64 of A–Z a–z 0–9 . _ + - can be one")
      }
      return version
    }
  }

  mutating func optionalIdentifier(_ key: StaticString) throws(ImportProblem) -> Identifier? {
    try optional(key) { (object, key) throws(ImportProblem) in try object.identifier(key) }
  }

  mutating func failure(_ key: StaticString) throws(ImportProblem) -> RequestFailure {
    try object(key) { (object) throws(ImportProblem) in
      let (kind, status): (RequestFailure.Kind, UInt16) = (
        try object.code("kind"), try object.number("status")
      )
      let code = try object.optional("serverCode") { (object, key) throws(ImportProblem) in
        try object.text(key)
      }
      let wait: Int64? = try object.optional("retryAfter") { (object, key) throws(ImportProblem) in
        try object.number(key)
      }
      let failure = RequestFailure(
        kind: kind, status: status, recordedCode: code, retryAfter: wait)
      // Without this check, a code that a journal cannot hold would be lost without a message.
      guard failure.serverCode == code else {
        throw object.problem("serverCode", "is no code: 1 to 64 of A–Z a–z 0–9 _ - . can be one")
      }
      guard failure.retryAfterMilliseconds == wait else {
        throw object.problem("retryAfter", "is below 0")
      }
      return failure
    }
  }
}
