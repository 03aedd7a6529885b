import Foundation
import SessionTestKit
import Testing

/// Each story is told once whole, and then once for each moment at which its process can die.
@Suite("A process that dies at every step")
struct CrashSweepTests {
  @Test(
    """
    REF-7 OUT-1 RES-1 JRN-2 reopened after death at any moment, it is as it may be, with its newest \
    token, and nothing that was ended is back
    """, arguments: CrashStory.all)
  func everyMoment(story: CrashStory) throws {
    let whole = try CrashRun(story).live()
    #expect(whole.problems.isEmpty, "untouched: \(whole.problems)")
    let points = whole.counts.points
    #expect(whole.counts.requests > 0 && whole.counts.secrets > 3 && points.count > 30)
    for point in points {
      for isCut in [false, true] {
        let place = "\(point)\(isCut ? ", and the power fails" : "")"
        do {
          let found = try CrashRun(story, at: point, isCut: isCut).live()
          #expect(found.hasDied, "\(place): it lives")
          #expect(found.problems.isEmpty, "\(place): \(found.problems)")
        } catch {
          Issue.record("\(place): \(error)")
        }
      }
    }
  }
}
