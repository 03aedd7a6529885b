@_spi(Internals) package import SessionCore

extension Platform {
  /// The word; `unknown` for a code that this version does not know, so that labels stay few.
  package var label: String { Self.known.contains(self) ? word : Self.unknown.word }
}
