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
    #expect(whole.counts.requests > 0 || story.adopts)
    #expect(whole.counts.secrets > 3 && points.count > 30)
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

  @Test(
    """
    STO-2 REF-7 OUT-1 with the refresh token in an item of its own: reopened after death at any moment, \
    also between the two writes, both belong together or the newer one heals it
    """, arguments: CrashStory.all)
  func everyMomentApart(story: CrashStory) throws {
    let whole = try CrashRun(story, isApart: true).live()
    #expect(whole.problems.isEmpty, "untouched: \(whole.problems)")
    for point in whole.counts.points {
      do {
        let found = try CrashRun(story, at: point, isApart: true).live()
        #expect(found.hasDied, "\(point): it lives")
        #expect(found.problems.isEmpty, "\(point): \(found.problems)")
      } catch {
        Issue.record("\(point): \(error)")
      }
    }
  }

  /// A token is lost for good where the answer that held it had not reached the disk.
  ///
  /// A server that takes no token twice will not give it again. Everywhere else the sibling goes on.
  @Test(
    """
    REF-3 REF-7 a process dies at any moment beside a sibling, at a server that takes no token twice: \
    what reached the disk is the sibling's, and only an answer that did not ends the session
    """, arguments: CrashStory.withSibling)
  func everyMomentBesideSibling(story: CrashStory) throws {
    let whole = try CrashRun(story).liveBesideSibling()
    #expect(whole.problems.isEmpty, "untouched: \(whole.problems)")
    var (lost, recovered) = (0, 0)
    for point in whole.counts.points {
      do {
        let found = try CrashRun(story, at: point).liveBesideSibling()
        #expect(found.hasDied, "\(point): it lives")
        #expect(found.problems.isEmpty, "\(point): \(found.problems)")
        (lost, recovered) = (lost + (found.isLost ? 1 : 0), recovered + (found.isRecovered ? 1 : 0))
      } catch {
        Issue.record("\(point): \(error)")
      }
    }
    #expect((lost > 0, recovered > 0) == (story.hasToken, story.hasToken))
  }

  @Test(
    "REF-7 OUT-1 LOG-9 RES-1 and whoever reopens it dies at any moment too: as after one death",
    arguments: CrashStory.reopened)
  func everySecondMoment(story: CrashStory) throws {
    let points = try CrashRun(story).live().counts.points
    var seen: Set<String> = []
    var deaths = 0
    for point in points {
      let first = try CrashRun(story, at: point, reopening: .whole).live()
      #expect(first.problems.isEmpty, "\(point), reopened: \(first.problems)")
      guard seen.insert(first.remains).inserted else { continue }
      for second in first.reopened.points {
        let place = "\(point), and again \(second)"
        do {
          let found = try CrashRun(story, at: point, reopening: .dies(second)).live()
          #expect(found.hasDiedAgain, "\(place): it lives")
          #expect(found.problems.isEmpty, "\(place): \(found.problems)")
          deaths += 1
        } catch {
          Issue.record("\(place): \(error)")
        }
      }
    }
    #expect(seen.count > 5 && deaths > 200)
  }
}
