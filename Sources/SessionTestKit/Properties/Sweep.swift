import Foundation

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
