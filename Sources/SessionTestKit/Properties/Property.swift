import Foundation

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
/// The body takes every decision from its `Choices`, and throws if the sentence does not hold. It
/// runs many times, so it must set up its own state each time. It must throw instead of recording
/// issues in a test library.
///
/// - Requirement: TST-1
public struct Property: Sendable {
  /// The sentence; it identifies the property in reports, replay codes and folders.
  public let name: String
  /// The number of random cases to run.
  public let cases: Int
  /// The seed of the random cases; if `nil`, a hash of the name, so that every run is the same.
  public let seed: UInt64?
  /// Labels that must occur in at least one case.
  public let requiredLabels: [String]
  /// The greatest number of cases that the shrinker tries.
  public let shrinkRuns: Int
  /// The greatest number of draws that the shrinker replays; this ends the shrinking of huge cases.
  public let shrinkDraws: Int
  /// The longest real time that the shrinker takes.
  public let shrinkTime: Duration
  /// The folder in which failing cases are saved; if `nil`, they are not saved.
  public let regressions: RegressionFolder?
  /// The settings of this run, usually from the environment.
  public let settings: PropertySettings

  /// Creates a property; nothing is run yet.
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

  /// Runs the saved cases, then random ones; reduces the first that fails to its simplest form.
  public func check(_ body: (Choices) throws -> Void) -> PropertyReport {
    run(.random, body)
  }

  /// Runs the saved cases, then random ones, one after the other, on the caller's actor.
  @_disfavoredOverload
  public func check(
    isolation: isolated (any Actor)? = #isolation, _ body: (Choices) async throws -> Void
  ) async -> PropertyReport {
    await run(.random, isolation: isolation, body)
  }

  /// Runs the saved cases, then every possible case, by counting through the draws.
  ///
  /// - Parameters:
  ///   - limit: The greatest number of cases; the report says if there are more.
  ///   - depth: The number of draws that are counted through, at least 0; later draws are 0.
  ///   - width: The exclusive upper bound of every draw, at least 1.
  ///   - body: Runs one case from its draws.
  public func exhaustive(
    limit: Int = 10_000_000, depth: Int? = nil, width: UInt64? = nil,
    _ body: (Choices) throws -> Void
  ) -> PropertyReport {
    run(.exhaustive(limit: limit, depth: depth, width: width), body)
  }

  /// Runs the saved cases, then every possible case, on the caller's actor.
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

/// The outcome of one case.
enum CaseOutcome: Sendable {
  case held
  case discarded
  /// A sweep left the case out.
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

  /// Returns the error's type, and its case if it is an enumeration.
  private static func kind(of error: any Error) -> String {
    let type = String(reflecting: type(of: error))
    let mirror = Mirror(reflecting: error)
    guard mirror.displayStyle == .enum else { return type }
    return type + "." + (mirror.children.first?.label ?? String(describing: error))
  }
}

/// The failure of a case.
struct CaseFault: Hashable, Sendable {
  let message: String
  /// The place of the check, or the kind of the error; a simpler case must fail with the same one.
  let place: String
}

/// Output of a property that is not part of its report.
enum Aside {
  /// Prints lines to standard error.
  static func tell(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}

/// Settings of all properties in a run, from outside the code.
///
/// They come from variables of the environment:
///
/// - `SESSION_CASES`: The factor by which the number of cases of every property is multiplied, at
///   least 1.
/// - `SESSION_SEED`: A seed that replaces the one of each property.
/// - `SESSION_REPLAY`: A replay code, or the path of a file that holds one. The property that
///   printed it runs only this case. If the case holds, the property says so on standard error. All
///   other properties run as usual.
/// - `SESSION_LABELS`: Any value except 0 makes reports show how often each label occurred.
///   Properties that hold print it to standard error.
public struct PropertySettings: Hashable, Sendable {
  /// A variable of the environment that tests read.
  enum Variable: String, CaseIterable, Sendable {
    case cases = "SESSION_CASES"
    case seed = "SESSION_SEED"
    case replay = "SESSION_REPLAY"
    case labels = "SESSION_LABELS"
    case sweep = "SESSION_SWEEP"
    case patience = "SESSION_PATIENCE"
  }

  /// The factor by which the number of cases of every property is multiplied.
  public var multiplier = 1
  /// A seed that replaces the one of each property.
  public var seed: UInt64?
  /// A replay code, or the path of a file that holds one; a path contains at least one slash.
  public var replay: String?
  /// Whether reports show how often each label occurred.
  public var showsLabels = false
  /// Variables that were ignored because their values are invalid, one sentence each.
  public var complaints: [String] = []

  /// Creates the default settings.
  public init() {}

  /// Reads the settings from an environment.
  ///
  /// An empty variable counts as missing.
  public init(environment: [String: String]) {
    func value(_ variable: Variable) -> String? {
      environment[variable.rawValue].flatMap { $0.isEmpty ? nil : $0 }
    }
    if let text = value(.cases) {
      if let factor = Int(text), (1...1_000_000).contains(factor) {
        multiplier = factor
      } else {
        complaints.append("SESSION_CASES is not a number from 1 to 1000000: it was ignored")
      }
    }
    if let text = value(.seed) {
      seed = UInt64(text)
      if seed == nil {
        complaints.append("SESSION_SEED is not a number of at least 0: it was ignored")
      }
    }
    replay = value(.replay)
    showsLabels = (value(.labels) ?? "0") != "0"
  }

  /// The settings from this process's environment.
  public static let ofProcess = PropertySettings(environment: ProcessInfo.processInfo.environment)
}

/// The share of an enumeration that a run of the tests covers.
///
/// By default a run takes one place of each `share` consecutive places. A hash of the sweep's name
/// selects it. As a result:
///
/// - A run is repeatable.
/// - Different sweeps take different places.
/// - A periodic enumeration (before a call, in the middle, after it) does not hide one kind of
///   place.
///
/// With `SESSION_SWEEP=whole` in the environment a run takes all places. A replayed case is never
/// left out.
package struct Sweep: Sendable {
  /// The name of what is enumerated; it decides which places are taken.
  package let name: String
  /// The number of consecutive places of which one is taken; at least 1.
  package let share: Int

  /// Whether every place is taken.
  package var isWhole: Bool { share == 1 }

  /// Whether the environment of this process asks for whole sweeps.
  package static let isWhole = isWhole(ProcessInfo.processInfo.environment)

  /// Returns whether an environment asks for whole sweeps; any value except `whole` does not.
  package static func isWhole(_ environment: [String: String]) -> Bool {
    environment[PropertySettings.Variable.sweep.rawValue] == "whole"
  }

  /// Creates a sweep that takes one of `share` places by default, and all of them if it is whole.
  package init(_ name: String, takingOneOf share: Int, isWhole: Bool = Sweep.isWhole) {
    self.name = name
    self.share = isWhole ? 1 : max(1, share)
  }

  /// Returns whether the place with this number, from 0, is taken.
  package func takes(_ number: Int) -> Bool {
    guard share > 1 else { return true }
    var mix = SplitMix(seed: StableHash.hash(name) &+ UInt64(number / share))
    return mix.uniform(upTo: UInt64(share - 1)) == UInt64(number % share)
  }

  /// Returns the places that are taken, in order; at least one if there are any.
  package func places<Place>(of all: some Sequence<Place>) -> [Place] {
    let all = Array(all)
    let taken = all.enumerated().filter { takes($0.offset) }.map(\.element)
    return taken.isEmpty ? Array(all.prefix(1)) : taken
  }

  /// Returns the number of cases to draw if a whole sweep draws `whole`; at least 1.
  package func cases(of whole: Int) -> Int {
    max(1, (whole + share - 1) / share)
  }
}

/// The error by which a body skips a case of an enumeration that only whole sweeps run.
struct PassedOver: Error {}

extension Choices {
  /// Skips a case of an enumeration unless the sweep takes its place; other cases always go on.
  ///
  /// Call it once in a case: after the draws that define the place, and before work that takes
  /// time. If a place is taken, all cases that further draws make there are run. Draws have the
  /// same meaning in every run, so a case that a whole sweep found can be replayed in any run.
  package func look(_ sweep: Sweep) throws {
    guard takes({ sweep.takes($0) }) else { throw PassedOver() }
  }
}
