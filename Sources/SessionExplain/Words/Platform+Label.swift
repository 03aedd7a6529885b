@_spi(Internals) package import SessionCore

extension Platform {
  /// The word; `unknown` for a code that this version does not know, so that labels stay few.
  package var metricLabel: String {
    Int(rawValue) < Self.words.count ? word : Self.unknown.word
  }
}
