import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// Each story runs once without a death, and once for each moment at which its process can die.
@Suite("A process that dies at every step")
struct CrashSweepTests {
  @Test(
    """
    REF-7 OUT-1 RES-1 JRN-2 after a death at any moment, the session reopens in an allowed state \
    with its newest token
    """, arguments: CrashStory.all)
  func everyMoment(story: CrashStory) throws {
    let whole = try CrashRun(story).live()
    #expect(whole.problems.isEmpty, "untouched: \(whole.problems)")
    let points = whole.counts.points
    #expect(whole.counts.requests > 0 || story.adopts)
    #expect(whole.counts.secrets > 3 && points.count > 30)
    let deaths = points.flatMap { [($0, isCut: false), ($0, isCut: true)] }
    for (point, isCut) in Sweep("every moment, \(story.name)", takingOneOf: 20).places(of: deaths) {
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

  @Test(
    """
    STO-2 REF-7 OUT-1 after a death at any moment, a refresh token in its own item still belongs \
    to the access token
    """, arguments: CrashStory.all)
  func everyMomentApart(story: CrashStory) throws {
    let whole = try CrashRun(story, isApart: true).live()
    #expect(whole.problems.isEmpty, "untouched: \(whole.problems)")
    for point in Sweep("apart, \(story.name)", takingOneOf: 20).places(of: whole.counts.points) {
      do {
        let found = try CrashRun(story, at: point, isApart: true).live()
        #expect(found.hasDied, "\(point): it lives")
        #expect(found.problems.isEmpty, "\(point): \(found.problems)")
      } catch {
        Issue.record("\(point): \(error)")
      }
    }
  }

  /// A token is lost permanently if its response had not reached the disk.
  ///
  /// A server that accepts each token only once will not issue it again. In all other cases the
  /// second process continues.
  @Test(
    """
    REF-3 REF-7 after a process dies, a second process continues, unless the newest token had \
    not reached the disk
    """, arguments: CrashStory.withSibling)
  func everyMomentBesideSibling(story: CrashStory) throws {
    let whole = try CrashRun(story, provingDeaths: false).liveBesideSibling()
    #expect(whole.problems.isEmpty, "untouched: \(whole.problems)")
    var (lost, recovered) = (0, 0)
    let sweep = Sweep("beside a sibling, \(story.name)", takingOneOf: 12)
    for point in sweep.places(of: whole.counts.points) {
      do {
        let found = try CrashRun(story, at: point, provingDeaths: false).liveBesideSibling()
        #expect(found.hasDied, "\(point): it lives")
        #expect(found.problems.isEmpty, "\(point): \(found.problems)")
        (lost, recovered) = (lost + (found.isLost ? 1 : 0), recovered + (found.isRecovered ? 1 : 0))
      } catch {
        Issue.record("\(point): \(error)")
      }
    }
    #expect(story.hasToken || (lost, recovered) == (0, 0))
    // Only a few moments lose or recover a token, and a daily run may skip all of them.
    if sweep.isWhole, story.hasToken, !story.leavesFormerToken {
      #expect(lost > 0 && recovered > 0)
    }
  }

  @Test(
    "REF-7 OUT-1 LOG-9 RES-1 a second death during the reopening has the same result as one death",
    arguments: CrashStory.reopened)
  func everySecondMoment(story: CrashStory) throws {
    let points = try CrashRun(story).live().counts.points
    var seen: Set<String> = []
    // The second deaths that are possible after the chosen first deaths, and those that were run.
    var (looked, deaths) = (0, 0)
    let firsts = Sweep("first deaths, \(story.name)", takingOneOf: 4).places(of: points)
    for point in firsts {
      let first = try CrashRun(story, at: point, reopening: .whole).live()
      #expect(first.problems.isEmpty, "\(point), reopened: \(first.problems)")
      guard seen.insert(first.remains).inserted else { continue }
      let sweep = Sweep("\(point), second deaths, \(story.name)", takingOneOf: 16)
      let seconds = sweep.places(of: first.reopened.points)
      looked += first.reopened.points.count
      for second in seconds {
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
    // All first deaths leave more than five results, and a part of them leaves more than two.
    #expect(seen.count > 2 && seen.count * points.count > 5 * firsts.count)
    #expect(looked * points.count > 200 * firsts.count)
    #expect(deaths > seen.count && deaths <= looked)
  }
}
