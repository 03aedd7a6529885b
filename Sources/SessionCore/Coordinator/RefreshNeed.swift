/// When a caller needs a newer token.
public enum RefreshNeed: Hashable, Sendable {
  /// Whatever the current one is good for.
  case always
  /// If the current one has expired.
  case ifExpired
  /// If the server has refused the one of this generation and there is no newer one that is good
  /// (INT-2): of many calls that were refused together the first makes the request, the others get
  /// what it brings, and none that comes later makes another while the attempt rests.
  case unlessNewer(than: Generation)
}
