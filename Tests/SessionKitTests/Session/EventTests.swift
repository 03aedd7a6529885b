import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

@Suite("A session: subscribers")
struct EventTests {
  @Test("STA-7 each subscriber receives the history and then live events, without gap or duplicate")
  func historyThenLive() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    for _ in 0..<5 { try await session.refresh() }
    let all = try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for _ in 0..<8 {
        let events = session.events(after: 0)
        group.addTask {
          var sequences: [UInt64] = []
          for try await event in events { sequences.append(event.sequence) }
          return sequences
        }
      }
      for _ in 0..<20 { try await session.refresh() }
      try await session.logout()
      try await session.close()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let expected = try bench.records().filter { $0.event != nil }.map(\.sequence)
    #expect(expected.count == 27)
    for sequences in all { #expect(sequences == expected) }
  }

  @Test("STA-7 waiting subscribers receive an event in the order in which they subscribed")
  func order() throws {
    let world = SimulatedWorld(Choices(replaying: []))
    let configuration = try world.configuration(
      in: SimulatedDisk().process(), secrets: MemorySecretStore(), policy: .edu(.staging))
    let told = Mutex<[Int]>([])
    world.spawn("app") {
      let session = try await Session.open(configuration)
      for number in 0..<20 {
        let events = session.events
        world.spawn {
          for try await _ in events { told.withLock { $0.append(number) } }
        }
      }
      try await session.login(.password(LoopbackUser.sample.email, LoopbackUser.sample.password))
      try await session.close()
    }
    world.run()
    #expect(told.withLock { $0 } == Array(0..<20))
    #expect(world.unfinished == 0)
  }

  @Test("STA-7 a slow subscriber receives all events, from the journal if the buffer is full")
  func slow() async throws {
    let bench = try Bench()
    let session = try await Session.open(bench.configuration(eventBuffer: 4))
    var iterator = session.events.makeAsyncIterator()
    try await session.login(bench.credentials)
    for _ in 0..<60 { try await session.refresh() }
    var generations: [UInt64] = []
    for _ in 0..<61 {
      let event = try #require(try await iterator.next())
      generations.append(event.event.announcedToken?.generation.number ?? 0)
    }
    #expect(generations == Array(1...61))
    try await session.close()
    #expect(try await iterator.next() == nil)
  }

  @Test("STA-7 events(after:) of a reopened journal begins after the given sequence")
  func reopened() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let session = try await bench.open()
    let login = try #require(try bench.records().first { $0.name == "login" }?.sequence)
    var after = session.events(after: login).makeAsyncIterator()
    var before = session.events(after: login - 1).makeAsyncIterator()
    #expect(try await before.next()?.event.kind == .login)
    try await session.refresh()
    #expect(try await after.next()?.event.kind == .refreshSucceeded)
    #expect(try await before.next()?.event.kind == .refreshSucceeded)
    try await session.close()
  }

  @Test("STA-7 a cancelled subscriber ends, and the others continue")
  func cancelled() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let events = session.events
    let subscriber = Task {
      var count = 0
      for try await _ in events { count += 1 }
      return count
    }
    subscriber.cancel()
    #expect(try await subscriber.value == 0)
    var iterator = session.events.makeAsyncIterator()
    try await session.login(bench.credentials)
    #expect(try await iterator.next()?.event.kind == .login)
    try await session.close()
  }

  @Test("STA-7 a page of the journal has no event after the last one that is asked for")
  func page() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    for _ in 0..<3 { try await session.refresh() }
    let events = try bench.records().filter { $0.event != nil }.map(\.sequence)
    let archive = EventArchive(
      log: session.engine.log, place: session.configuration.place,
      runtime: session.engine.runtime)
    let page = try await archive.page(after: 0, through: events[1])
    #expect(page.events.map(\.sequence) == Array(events.prefix(2)))
    #expect(page.last == events[1])
    try await session.close()
  }
}
