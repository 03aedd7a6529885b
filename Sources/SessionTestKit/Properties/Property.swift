/// A sentence about the code that must hold for every case.
///
/// ```swift
/// let report = Property("a logout ends every session", cases: 500).check { choices in
///   var session = Model()
///   for command in commands(choices) {
///     session.apply(command)
///     choices.step("\(command)", state: "\(session)")
///   }
///   session.apply(.logout)
///   try choices.require(!session.isSignedIn, "signed in after \(session)")
/// }
/// ```
///
/// The body takes every decision from its `Choices` and throws where the sentence does not hold. It is
/// run many times: it must start afresh each time, and throw instead of recording in a test library.
///
/// - Requirement: TST-1
public struct Property: Sendable {
  /// The sentence; names the property in reports, replay codes and folders.
  public let name: String
  /// How many random cases are run.
  public let cases: Int
  /// The seed of the random cases; made of the name where `nil`, so that a run repeats.
  public let seed: UInt64?
  /// Labels that must occur in at least one case.
  public let requiredLabels: [String]
  /// How many cases the shrinker may try.
  public let shrinkRuns: Int
  /// How many draws it may replay in them: what ends the shrinking of huge cases.
  public let shrinkDraws: Int
  /// For how long it may try.
  public let shrinkTime: Duration
  /// Where failing cases are kept; nowhere where `nil`.
  public let regressions: RegressionFolder?
  /// What the environment says.
  public let settings: PropertySettings

  /// A property, not yet checked.
  public init(
    _ name: String, cases: Int = 100, seed: UInt64? = nil, requiredLabels: [String] = [],
    shrinkRuns: Int = 4_096, shrinkDraws: Int = 50_000_000, shrinkTime: Duration = .seconds(60),
    regressions: RegressionFolder? = nil,
    settings: PropertySettings = .ofProcess
  ) {
    self.name = name
    self.cases = cases
    self.seed = seed
    self.requiredLabels = requiredLabels
    self.shrinkRuns = shrinkRuns
    self.shrinkDraws = shrinkDraws
    self.shrinkTime = shrinkTime
    self.regressions = regressions
    self.settings = settings
  }

  /// Runs the saved cases, then random ones; makes the first that fails as simple as possible.
  public func check(_ body: (Choices) throws -> Void) -> PropertyReport {
    run(.random, body)
  }

  /// Runs the saved cases, then random ones, one after the other, where the caller runs.
  @_disfavoredOverload
  public func check(
    isolation: isolated (any Actor)? = #isolation, _ body: (Choices) async throws -> Void
  ) async -> PropertyReport {
    await run(.random, isolation: isolation, body)
  }

  /// Runs the saved cases, then every case there is, by counting through the draws.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of cases; the report says if there are more.
  ///   - depth: How many draws are counted through, from 0; further ones are 0.
  ///   - width: Each draw stays below this, from 1.
  public func exhaustive(
    limit: Int = 10_000_000, depth: Int? = nil, width: UInt64? = nil,
    _ body: (Choices) throws -> Void
  ) -> PropertyReport {
    run(.exhaustive(limit: limit, depth: depth, width: width), body)
  }

  /// Runs the saved cases, then every case there is, where the caller runs.
  @_disfavoredOverload
  public func exhaustive(
    limit: Int = 10_000_000, depth: Int? = nil, width: UInt64? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: (Choices) async throws -> Void
  ) async -> PropertyReport {
    await run(
      .exhaustive(limit: limit, depth: depth, width: width), isolation: isolation, body)
  }

  private func run(_ search: PropertyEngine.Search, _ body: (Choices) throws -> Void)
    -> PropertyReport
  {
    var engine = PropertyEngine(self, search)
    while let choices = engine.next() {
      let outcome: CaseOutcome
      do {
        try body(choices)
        outcome = .held
      } catch {
        outcome = CaseOutcome(error)
      }
      engine.learn(outcome, choices, isCancelled: Task.isCancelled)
    }
    return concluded(&engine)
  }

  private func concluded(_ engine: inout PropertyEngine) -> PropertyReport {
    let report = engine.report()
    if let text = report.aside { Aside.tell(text) }
    return report
  }

  private func run(
    _ search: PropertyEngine.Search, isolation: isolated (any Actor)?,
    _ body: (Choices) async throws -> Void
  ) async -> PropertyReport {
    var engine = PropertyEngine(self, search)
    while let choices = engine.next() {
      let outcome: CaseOutcome
      do {
        try await body(choices)
        outcome = .held
      } catch {
        outcome = CaseOutcome(error)
      }
      engine.learn(outcome, choices, isCancelled: Task.isCancelled)
    }
    return concluded(&engine)
  }
}

/// What became of one case.
enum CaseOutcome: Sendable {
  case held
  case discarded
  /// A sweep left it out.
  case passedOver
  case failed(CaseFault)

  init(_ error: any Error) {
    switch error {
    case is Discard: self = .discarded
    case is PassedOver: self = .passedOver
    case let error as any PlacedError:
      self = .failed(
        CaseFault(message: String(describing: error), place: "\(error.fileID):\(error.line)"))
    default:
      self = .failed(CaseFault(message: String(describing: error), place: Self.kind(of: error)))
    }
  }

  /// The error's type, and its case where it is an enumeration.
  private static func kind(of error: any Error) -> String {
    let type = String(reflecting: type(of: error))
    let mirror = Mirror(reflecting: error)
    guard mirror.displayStyle == .enum else { return type }
    return type + "." + (mirror.children.first?.label ?? String(describing: error))
  }
}

/// How a case failed.
struct CaseFault: Hashable, Sendable {
  let message: String
  /// Where, or with what type of error: a simpler case must fail there too.
  let place: String
}
