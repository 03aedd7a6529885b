/// What a finding says.
package struct FindingWord: Hashable, Sendable {
  /// The name in JSON, which never changes.
  package let id: String
  /// The cause that such a finding rules out; `nil` for any other finding.
  package let topic: String?
  /// The sentence, with `{}` for a value.
  package let sentence: String

  init(_ id: String, against topic: String? = nil, _ sentence: String) {
    (self.id, self.topic, self.sentence) = (id, topic, sentence)
  }
}

/// A question that the journal does not answer.
package struct UntoldWord: Hashable, Sendable {
  /// The name in JSON, which never changes.
  package let id: String
  /// The sentence, with `{}` for a value.
  package let sentence: String

  init(_ id: String, _ sentence: String) { (self.id, self.sentence) = (id, sentence) }
}

/// What the reader should do.
package struct AdviceWord: Hashable, Sendable {
  /// The name in JSON, which never changes.
  package let id: String
  /// The sentence, with `{}` for a value.
  package let sentence: String

  init(_ id: String, _ sentence: String) { (self.id, self.sentence) = (id, sentence) }
}
