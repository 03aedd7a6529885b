import Foundation
import SessionKit
import SessionTestKit
import Testing

/// What is read of an address, and how it is told.
@Suite("The observer of redirects")
struct RedirectObserverTests {
  @Test("WEB-2 Specs/WebSignIn.md: what each address says")
  func page() {
    let rows = WebSignInPage.rows(["address", "seen"])
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

  @Test("WEB-2 an address that is too long says nothing, and one as long as may be is read")
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

  @Test("WEB-2 the last error stays until reset, and nothing is seen behind a stop")
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

  @Test("WEB-2 each error once and in order, also to whoever comes late; the end after a stop")
  func sequence() async {
    let observer = RedirectObserver(keeping: 3)
    for number in 1...5 { observer.see("a:/?error=E\(number)") }
    let late = observer.errors
    let waiting = Task {
      var seen: [String] = []
      for await error in late { seen.append("\(error)") }
      return seen
    }
    await eventually("it waits") { observer.waiterCount == 1 }
    observer.see("a:/?error=E6")
    await eventually("it waits again") { observer.waiterCount == 1 }
    observer.stop()
    #expect(await waiting.value == ["refused E3", "refused E4", "refused E5", "refused E6"])
    // What is kept is given behind the stop as well, and then the end.
    var iterator = observer.errors.makeAsyncIterator()
    #expect(await iterator.next() == .refused(IdentityCode("E4")))
    #expect(await iterator.next() == .refused(IdentityCode("E5")))
    #expect(await iterator.next() == .refused(IdentityCode("E6")))
    #expect(await iterator.next() == nil)
  }

  @Test("WEB-2 a reset forgets what nobody was given, and a cancelled task waits no longer")
  func forgotten() async {
    let observer = RedirectObserver()
    observer.see("a:/?error=E1")
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

  @Test("WEB-2 told from many threads at once, nothing is lost")
  func threads() async {
    let observer = RedirectObserver(keeping: 400)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for turn in 0..<50 { observer.see("a:/?error=E\(number)_\(turn % 10)") }
        }
      }
    }
    observer.stop()
    var count = 0
    for await _ in observer.errors { count += 1 }
    #expect(count == 400)
  }
}
