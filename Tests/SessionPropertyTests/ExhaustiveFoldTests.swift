@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

/// Every short sequence of events, folded and compared with the model.
@Suite("Exhaustive: the fold")
struct ExhaustiveFoldTests {
  private typealias Letter = @Sendable (SessionModel) -> SessionEvent

  /// One event of each kind, legal in some state.
  private static let kinds: [Letter] = [
    { .login(as: $0.user ?? "ada", token: $0.newest + 1) },
    { .refreshed(to: $0.newest + 1) },
    { .refreshFailed(.server, of: $0.token) },
    { .switched(to: .plainPrincipal, token: $0.newest + 1) },
    { _ in .expired(.inactivity) },
    { _ in .loggedOut() },
  ]

  /// The same and similar ones: another user, an old token, a failure of another token.
  private static let variants: [Letter] =
    kinds + [
      { .login(as: "bob", token: $0.newest + 2, isRefreshable: false) },
      { .login(as: "ada", token: $0.newest) },
      { .refreshed(to: $0.newest) },
      { .refreshFailed(.noReply, of: $0.newest + 1) },
      { _ in .switched(to: .plainTeacher) },
      { .switched(to: .plainTeacher, token: $0.token) },
    ]

  /// Walks the tree of sequences; a common beginning is folded once.
  private func walk(
    _ letters: [Letter], depth: Int, _ fold: SessionFold, _ model: SessionModel,
    _ path: [SessionEvent], _ count: inout Int
  ) throws {
    count += 1
    guard depth > 0 else { return }
    for letter in letters {
      let event = letter(model)
      let record = SessionRecord(
        sequence: fold.sequence + 1, time: .plainStart, content: .event(event))
      var (nextFold, nextModel) = (fold, model)
      var rejection: SessionRejection.Reason?
      do throws(SessionFold.Failure) {
        try nextFold.apply(record)
      } catch {
        if case .illegal(let illegal, _) = error { rejection = illegal.reason }
      }
      nextModel.take(event)
      let path = path + [event]
      let isAgreed =
        rejection == model.objection(to: event) && nextModel.disagreement(with: nextFold) == nil
        && (rejection == nil || nextFold == fold)
      try #require(isAgreed, "\(path.map(\.line)): \(rejection?.rawValue ?? "taken")")
      try walk(letters, depth: depth - 1, nextFold, nextModel, path, &count)
    }
  }

  @Test(
    "E1 STA-2 for every sequence of the six kinds fold and model agree, and rejections change nothing"
  )
  func kinds() throws {
    var count = 0
    try walk(
      Self.kinds, depth: Scale.isOptimised ? 8 : 6, SessionFold(), SessionModel(), [], &count)
    #expect(count == (Scale.isOptimised ? 2_015_539 : 55_987))
    print("E1: \(count) sequences of events folded")
  }

  @Test(
    "E2 STA-2 STA-6 fold and model agree for every sequence of twelve events, including stale and foreign ones"
  )
  func variants() throws {
    var count = 0
    try walk(
      Self.variants, depth: Scale.isOptimised ? 5 : 4, SessionFold(), SessionModel(), [], &count)
    #expect(count == (Scale.isOptimised ? 271_453 : 22_621))
    print("E2: \(count) sequences of events folded")
  }
}

/// The depth of the exhaustive tests: deeper in an optimized build.
enum Scale {
  #if DEBUG
    static let isOptimised = false
  #else
    static let isOptimised = true
  #endif
}
