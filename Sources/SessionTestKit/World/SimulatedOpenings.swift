@_spi(Internals) import SessionCore
package import SessionKit
import Synchronization

/// The openings of journals and change logs in a simulated world, and whether their processes are
/// alive.
///
/// An opening's id is made from a counter, so that the same run writes the same bytes.
///
/// - Requirement: REF-9
package final class SimulatedOpenings: Sendable {
  private let lives = Mutex<[Identifier: @Sendable () -> Bool]>([:])

  package init() {}

  /// Begins an opening by a process, and returns its id.
  func begin(isAlive: @escaping @Sendable () -> Bool) -> Identifier {
    lives.withLock { lives in
      let opening = Identifier("opening-\(lives.count + 1)")
      lives[opening] = isAlive
      return opening
    }
  }

  /// Returns whether the process of an opening is proven to be gone.
  func isGone(_ opening: Identifier) -> Bool {
    let isAlive = lives.withLock { $0[opening] }
    return isAlive.map { !$0() } ?? false
  }

  /// Returns a maker of the presence that identifies the session of a process.
  ///
  /// If deaths are not proven, other processes wait for a request until its lease ends.
  package func presence(
    number: UInt32, provingDeaths: Bool, isAlive: @escaping @Sendable () -> Bool
  ) -> OpeningPresence.Maker {
    { [self] _, _, boot in
      let identity = ProcessIdentity(opening: begin(isAlive: isAlive), boot: boot)
      return OpeningPresence(identity, process: number) { [self] other, _ in
        provingDeaths && isGone(other.opening)
      }
    }
  }
}
