import Foundation
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Testing

/// What the observer reads from an address, and how it reports errors.
@Suite("The observer of redirects")
struct RedirectObserverTests {
  @Test("WEB-2 each address gives the error in Specs/WebSignIn.md")
  func page() {
    let rows = SpecPage("WebSignIn.md").rows(["address", "seen"])
    #expect(rows.count >= 25)
    for row in rows where row.count == 2 {
      let observer = RedirectObserver()
      observer.see(row[0])
      #expect((observer.lastError.map { "\($0)" } ?? "nothing") == row[1], "\(row[0])")
      guard let url = URL(string: row[0]) else { continue }
      let other = RedirectObserver()
      other.see(url)
      #expect(other.lastError == observer.lastError, "\(row[0]) as a URL")
    }
  }

  @Test("WEB-2 an address above the size limit is ignored, and one at the limit is read")
  func huge() {
    let observer = RedirectObserver()
    let end = "&error=access_denied"
    let start = "app://auth?state="
    let room = 65_536 - start.utf8.count - end.utf8.count
    observer.see(start + String(repeating: "x", count: room + 1) + end)
    #expect(observer.lastError == nil)
    observer.see(start + String(repeating: "x", count: room) + end)
    #expect(observer.lastError == .refused(IdentityCode("access_denied")))
    observer.see("app://auth?" + String(repeating: "error=x&", count: 8_000))
    #expect(observer.lastError == .refused(nil))
  }

  @Test("WEB-2 the last error stays until a reset, and nothing is recorded after a stop")
  func resetAndStop() {
    let observer = RedirectObserver()
    observer.see("a:/?error=access_denied")
    observer.see("a:/?code=1")
    #expect(observer.lastError == .refused(IdentityCode("access_denied")))
    observer.reset()
    #expect(observer.lastError == nil && !observer.isStopped)
    observer.see("a:/?error=server_error")
    observer.stop()
    observer.stop()
    observer.see("a:/?error=access_denied")
    #expect(observer.lastError == .refused(IdentityCode("server_error")) && observer.isStopped)
  }

  @Test(
    "WEB-2 WEB-4 the error that is kept after further addresses is the one in Specs/WebSignIn.md")
  func retained() {
    let rows = SpecPage("WebSignIn.md").rows(["seen one after another", "stands"])
    #expect(rows.count >= 10)
    for row in rows where row.count == 2 {
      let observer = RedirectObserver()
      for address in row[0].split(separator: " ") {
        address == "reset()" ? observer.reset() : observer.see(String(address))
      }
      #expect((observer.retained.map { "\($0)" } ?? "nothing") == row[1], "\(row[0])")
    }
  }

  @Test("WEB-2 each subscriber gets every error once and in order, and the end after a stop")
  func sequence() async {
    let observer = RedirectObserver(keeping: 3)
    for number in 1...5 { observer.see("a:/?error=AADB2C9000\(number)") }
    let late = observer.errors
    let waiting = Task {
      var seen: [String] = []
      for await error in late { seen.append("\(error)") }
      return seen
    }
    await eventually("it waits") { observer.waiterCount == 1 }
    observer.see("a:/?error=AADB2C90006")
    await eventually("it waits again") { observer.waiterCount == 1 }
    observer.stop()
    #expect(await waiting.value == (3...6).map { "refused AADB2C9000\($0)" })
    // Errors that were kept are delivered after the stop as well, and then the sequence ends.
    var iterator = observer.errors.makeAsyncIterator()
    #expect(await iterator.next() == .refused(IdentityCode("AADB2C90004")))
    #expect(await iterator.next() == .refused(IdentityCode("AADB2C90005")))
    #expect(await iterator.next() == .refused(IdentityCode("AADB2C90006")))
    #expect(await iterator.next() == nil)
  }

  @Test("WEB-2 a reset discards errors that were not delivered, and a cancelled task stops waiting")
  func forgotten() async {
    let observer = RedirectObserver()
    observer.see("a:/?error=AADB2C90001")
    observer.reset()
    let errors = observer.errors
    let task = Task {
      var iterator = errors.makeAsyncIterator()
      return await iterator.next()
    }
    await eventually("it waits") { observer.waiterCount == 1 }
    task.cancel()
    #expect(await task.value == nil)
    #expect(observer.waiterCount == 0)
  }

  @Test("WEB-2 no error is lost if many threads report at once")
  func threads() async {
    let observer = RedirectObserver(keeping: 400)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for turn in 0..<50 { observer.see("a:/?error=AADB2C9\(number)0\(turn)") }
        }
      }
    }
    observer.stop()
    var count = 0
    for await _ in observer.errors { count += 1 }
    #expect(count == 400)
  }
}
