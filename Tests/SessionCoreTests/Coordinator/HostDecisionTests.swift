@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: the app around the session")
struct HostDecisionTests {
  private func clearing(_ policy: SessionPolicy = .bench) -> CoordinatorBench {
    var bench = CoordinatorBench(policy)
    var facts = StoredItemsReport.nothing
    facts.hostClears = true
    bench.tell(.opened(facts))
    let number = bench.tell(.login(bench.caller(), .password)).request ?? RequestNumber(0)
    bench.tell(.answered(number, .login("ada")))
    return bench
  }

  private func reject(_ bench: inout CoordinatorBench) -> [SessionEffect] {
    let number = bench.refresh().1.request ?? RequestNumber(0)
    return bench.tell(.failed(number, RequestFailure(kind: .rejected, status: 401), jitter: 0))
  }

  @Test("SYN-5 OUT-3 the app's data is cleared at every logout and at no expiry")
  func clears() {
    var leaving = clearing()
    #expect(leaving.tell(.logout(leaving.caller())).contains(.clearLocalData(.user)))
    var cleared = clearing()
    #expect(reject(&cleared).contains(.clearLocalData(.policy)))
    var kept = clearing(.benchKeeping)
    let effects = reject(&kept)
    #expect(kept.coordinator.state.kind == .expired)
    #expect(effects.place { if case .clearLocalData = $0 { true } else { false } } == effects.count)
    #expect(kept.tell(.logout(kept.caller())).contains(.clearLocalData(.user)))
  }

  @Test("SYN-5 the clearing is journaled, so that a later opening does not request it again")
  func noted() {
    var bench = clearing()
    bench.tell(.logout(bench.caller()))
    bench.tell(.cleared)
    #expect(bench.names.last == "localDataCleared")
    var debt = PendingDataClearing()
    for record in bench.journal {
      debt.take(record.content)
      if record.event?.kind == .logout { #expect(debt.reason == .user) }
    }
    #expect(debt.reason == nil)
  }

  @Test("SYN-5 a clearing that a crash interrupted is requested at the next opening")
  func owed() throws {
    for (contents, isOwed) in [
      ([SessionRecord.Content.event(.login(as: "ada")), .event(.loggedOut())], true),
      ([.event(.login(as: "ada")), .event(.loggedOut()), .note(.localDataCleared)], false),
      (
        [
          .event(.login(as: "ada")), .event(.loggedOut()), .event(.login(as: "bob", token: 2)),
        ], false
      ), ([.event(.login(as: "ada")), .event(.expired(.refreshRejected))], false),
    ] {
      var bench = try CoordinatorBench(.benchKeeping, journal: contents)
      var debt = PendingDataClearing()
      for content in contents { debt.take(content) }
      var facts = StoredItemsReport.nothing
      (facts.hostClears, facts.owedClearing) = (true, debt.reason)
      #expect(bench.tell(.opened(facts)).contains(.clearLocalData(.user)) == isOwed)
      #expect((debt.reason != nil) == isOwed)
    }
  }

  @Test("SYN-5 another process's logout clears data unless that process reports that it has")
  func others() {
    var bench = clearing()
    bench.lookEndings = [.finds([.event(.loggedOut())])]
    let caller = bench.caller()
    #expect(bench.tell(.foreground(caller)).contains(.clearLocalData(.user)))
    var done = clearing()
    done.lookEndings = [.finds([.event(.loggedOut()), .note(.localDataCleared)])]
    let effects = done.tell(.foreground(done.caller()))
    #expect(effects.place { if case .clearLocalData = $0 { true } else { false } } == effects.count)
  }

  // MARK: Foreground

  @Test("REF-2 JRN-1 the foreground reads the journal and applies records of other processes")
  func foreground() {
    var bench = CoordinatorBench.signedIn()
    bench.lookEndings = [.finds([.event(.loggedOut())])]
    let caller = bench.caller()
    #expect(bench.tell(.foreground(caller)).reply(to: caller) == .current)
    #expect(bench.coordinator.state == .unauthenticated)
  }

  @Test(
    "REF-2 the foreground refreshes an expired token only, and a busy journal is not an error"
  )
  func foregroundRefreshes() {
    var bench = CoordinatorBench.signedIn()
    let first = bench.caller()
    #expect(bench.tell(.foreground(first)) == [.resume(first, .current)])
    bench.advance(by: CoordinatorBench.lifetime)
    bench.lookEndings = [.fails]
    let second = bench.caller()
    let effects = bench.tell(.foreground(second))
    #expect(effects.sendCount == 1)
    #expect(
      bench.tell(.answered(effects.request ?? RequestNumber(0), .token())).reply(to: second)
        == .refreshed)
    var plain = CoordinatorBench.signedIn(.benchKeeping, isRefreshable: false)
    plain.advance(by: CoordinatorBench.lifetime)
    plain.tell(.foreground(plain.caller()))
    #expect(plain.coordinator.state.kind == .expired)
  }

  // MARK: Unlocking

  @Test("LOG-5 RES-3 unlocking reads at once, reports the result and appends nothing")
  func unlock() throws {
    var bench = try CoordinatorBench(.bench, journal: [.event(.login(as: "ada"))])
    var locked = StoredItemsReport.nothing
    locked.isLocked = true
    bench.tell(.opened(locked))
    #expect(bench.coordinator.activity == .loading)
    let early = bench.caller()
    #expect(bench.tell(.unlock(early)) == [.readSecrets])
    #expect(bench.tell(.secretsRead(locked)).reply(to: early) == .failed(.locked))
    let caller = bench.caller()
    #expect(bench.tell(.unlock(caller)) == [.readSecrets])
    let effects = bench.tell(.secretsRead(.session(1)))
    #expect(effects.reply(to: caller) == .current)
    #expect(bench.coordinator.activity == .idle && bench.names == ["login"])
    let again = bench.caller()
    #expect(bench.tell(.unlock(again)) == [.resume(again, .current)])
  }

  // MARK: Resting

  @Test("REF-6 while a server fails, many calls with an expired token make one request")
  func rests() {
    var bench = CoordinatorBench.signedIn()
    bench.advance(by: CoordinatorBench.lifetime)
    let first = bench.tell(.refresh(bench.caller(), .manual, .ifExpired)).request
    let failure = RequestFailure(kind: .server, status: 503)
    bench.tell(.failed(first ?? RequestNumber(0), failure, jitter: 0))
    for _ in 0..<100 {
      let caller = bench.caller()
      let effects = bench.tell(.refresh(caller, .manual, .ifExpired))
      #expect(effects == [.resume(caller, .failed(.request(failure)))])
    }
    // A manual refresh always sends a request.
    #expect(bench.tell(.refresh(bench.caller(), .manual, .always)).sendCount == 1)
  }

  @Test("REF-6 the pause ends with the backoff, and a missing network causes none")
  func restEnds() {
    var bench = CoordinatorBench.signedIn()
    bench.advance(by: CoordinatorBench.lifetime)
    let first = bench.tell(.refresh(bench.caller(), .manual, .ifExpired)).request
    bench.tell(
      .failed(first ?? RequestNumber(0), RequestFailure(kind: .server, status: 503), jitter: 0))
    bench.advance(by: 999)
    #expect(bench.tell(.refresh(bench.caller(), .manual, .ifExpired)).sendCount == 0)
    bench.advance(by: 1)
    let second = bench.tell(.refresh(bench.caller(), .manual, .ifExpired)).request
    #expect(second != nil)
    bench.tell(
      .failed(second ?? RequestNumber(0), RequestFailure(kind: .noConnection), jitter: 0))
    #expect(bench.tell(.refresh(bench.caller(), .manual, .ifExpired)).sendCount == 1)
  }

  @Test(
    "REF-14 REF-6 only a failure with a response of the server delays the next attempt",
    arguments: RequestFailure.Kind.words.indices.map { RequestFailure.Kind(rawValue: UInt8($0)) })
  func putsOff(kind: RequestFailure.Kind) throws {
    guard !kind.isFinal, kind != .proofKeyLost else { return }
    for need in [RefreshNeed.ifExpired, .unlessNewer(than: Generation(1))] {
      for isExpired in [true, false] where isExpired || need != .ifExpired {
        var bench = CoordinatorBench.signedIn()
        if isExpired { bench.advance(by: CoordinatorBench.lifetime) }
        let failure = RequestFailure(kind: kind, status: kind == .unexpected ? 400 : 0)
        // The second failure. After the first one without a reply, an attempt follows at once.
        for _ in 0..<2 {
          let request = bench.tell(.refresh(bench.caller(), .manual, .always)).request
          var effects = bench.tell(.failed(try #require(request), failure, jitter: 0))
          while let request = effects.request {
            effects = bench.tell(.failed(request, failure, jitter: 0))
          }
        }
        for _ in 0..<3 {
          let caller = bench.caller()
          let effects = bench.tell(.refresh(caller, .unauthorized, need))
          if kind.isAnswered {
            // An expired session that is refused twice needs its user (STA-9).
            let isNeed = kind == .userNeeded || kind == .unexpected && isExpired
            guard case .resume(caller, .failed(let problem))? = effects.first else {
              Issue.record("\(kind): \(effects)")
              continue
            }
            #expect((problem == .request(failure)) == !isNeed)
            #expect(effects.count == 1)
          } else {
            #expect(effects.sendCount == 1, "\(kind) puts \(need) off")
            // Other callers join it: one attempt, however many ask.
            let others = (0..<10).map { _ in bench.caller() }
            for other in others {
              #expect(bench.tell(.refresh(other, .unauthorized, need)).sendCount == 0)
            }
            let failure = RequestFailure(kind: kind)
            let told = bench.tell(
              .failed(try #require(effects.request), failure, jitter: 0))
            for other in others + [caller] {
              #expect(told.reply(to: other) == .failed(.request(failure)))
            }
          }
        }
      }
    }
  }

  @Test("REF-14 a pause that the server requested survives a failure of the network")
  func pauseStays() throws {
    var bench = CoordinatorBench.signedIn()
    let need = RefreshNeed.unlessNewer(than: Generation(1))
    let busy = RequestFailure(kind: .rateLimited, status: 429, retryAfter: .seconds(60))
    let first = bench.tell(.refresh(bench.caller(), .unauthorized, need)).request
    bench.tell(.failed(try #require(first), busy, jitter: 0))
    bench.advance(by: 10_000)
    let second = bench.tell(.refresh(bench.caller(), .manual, .always)).request
    bench.tell(
      .failed(try #require(second), RequestFailure(kind: .noConnection), jitter: 0))
    bench.advance(by: 49_999)
    let caller = bench.caller()
    #expect(
      bench.tell(.refresh(caller, .unauthorized, need))
        == [.resume(caller, .failed(.request(busy)))])
    bench.advance(by: 1)
    #expect(bench.tell(.refresh(bench.caller(), .unauthorized, need)).sendCount == 1)
  }
}
