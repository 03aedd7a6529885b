import Foundation

/// How much of an enumeration a run of the tests looks at.
///
/// A run of the day takes one of every so many places that follow each other; a hash of the sweep's name
/// says which. So a run repeats, different sweeps look at different places, and no period of the
/// enumeration (before a call, half way, behind it) lets one sort of place go unseen. Where the environment
/// says `SESSION_SWEEP=whole`, all are taken. A case that is replayed is never left out.
package struct Sweep: Sendable {
  /// What is gone through; decides which places are taken.
  package let name: String
  /// Of so many places one is taken; from 1.
  package let share: Int

  /// Whether it leaves no place out.
  package var isWhole: Bool { share == 1 }

  /// What the environment of this process says.
  package static let isWhole = isWhole(ProcessInfo.processInfo.environment)

  /// Whether everything is looked at; anything but `whole` asks for a run of the day.
  package static func isWhole(_ environment: [String: String]) -> Bool {
    environment[PropertySettings.Variable.sweep.rawValue] == "whole"
  }

  /// A sweep that takes one of `share` places in a run of the day, and all in a whole one.
  package init(_ name: String, takingOneOf share: Int, isWhole: Bool = Sweep.isWhole) {
    self.name = name
    self.share = isWhole ? 1 : max(1, share)
  }

  /// Whether the place of this number, from 0, is looked at: of each `share` that follow each other one is.
  package func takes(_ number: Int) -> Bool {
    guard share > 1 else { return true }
    var mix = SplitMix(seed: StableHash.hash(name) &+ UInt64(number / share))
    return mix.uniform(upTo: UInt64(share - 1)) == UInt64(number % share)
  }

  /// The places that are looked at, in their order; never none where there are some.
  package func places<Place>(of all: some Sequence<Place>) -> [Place] {
    let all = Array(all)
    let taken = all.enumerated().filter { takes($0.offset) }.map(\.element)
    return taken.isEmpty ? Array(all.prefix(1)) : taken
  }

  /// How many cases are drawn where a whole sweep draws so many; from 1.
  package func cases(of whole: Int) -> Int {
    max(1, (whole + share - 1) / share)
  }
}

/// Thrown by the body of a property: a sweep leaves this case of an enumeration to whole runs.
struct PassedOver: Error {}

extension Choices {
  /// Goes on with the cases of an enumeration that the sweep takes, and with any that is not enumerated.
  ///
  /// Ask it behind the draws that make the place and before what takes time, once in a case: of a place that is
  /// taken, every case that further draws make is run. Draws have the same meaning in every run, so what a
  /// whole one found is replayed in any.
  package func look(_ sweep: Sweep) throws {
    guard takes(sweep) else { throw PassedOver() }
  }
}
