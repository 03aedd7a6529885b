@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Generators of sessions")
struct GeneratorTests {
  private func draw<Value>(_ generator: Generator<Value>, _ count: UInt64 = 2_000) -> [Value] {
    (0..<count).map { generator(Choices(seed: $0)) }
  }

  @Test("TST-1 names are plain, empty, long and in any script")
  func names() {
    let names = draw(.name)
    #expect(names.contains(""))
    #expect(names.contains { $0.count > 100 })
    #expect(names.contains { $0.unicodeScalars.contains { $0.value > 0xFFFF } })
    #expect(names.contains { $0.unicodeScalars.contains { $0.value < 0x20 } })
    #expect(Generator<String>.name(Choices(replaying: [])) == "a", "the simplest is plain")
  }

  @Test("TST-1 identifiers are UUIDs and other texts, contexts have none to many permissions")
  func identifiers() {
    let identifiers = draw(.identifier)
    #expect(identifiers.contains { $0.uuid != nil })
    #expect(identifiers.contains { $0.uuid == nil && $0.description.utf8.count == 36 })
    #expect(identifiers.contains(""))
    let contexts = draw(.context)
    #expect(contexts.contains { $0.permissions.isEmpty })
    #expect(contexts.contains { $0.permissions.count > 200 })
    #expect(contexts.contains { $0.school == nil } && contexts.contains { $0.unit != nil })
  }

  @Test("TST-1 times reach the bounds, and tokens may expire before they are issued")
  func times() {
    let times = draw(.timestamp).map(\.milliseconds)
    #expect(times.contains(.min) && times.contains(.max))
    #expect(times.contains { $0 < 0 && $0 > -10_000_000_000 })
    let tokens = draw(.token)
    #expect(tokens.contains { $0.lifetime == .zero && $0.expiresAt < $0.issuedAt })
    #expect(tokens.contains { !$0.isRefreshable } && tokens.contains { $0.id != nil })
  }

  @Test("TST-1 JRN-3 contents have every kind, including unknown ones")
  func contents() {
    let names = Set(draw(.record).map { $0.name.hasPrefix("unknown") ? "unknown" : $0.name })
    let kinds =
      SessionEvent.Kind.allCases.map(\.description) + SessionNote.Kind.allCases.map(\.description)
    #expect(names == Set(kinds + ["unknown"]))
  }

  @Test("TST-1 legal histories are legal, arbitrary ones are not, and both begin empty")
  func histories() {
    func isLegal(_ history: History) -> Bool {
      var fold = SessionFold()
      do throws(SessionFold.Failure) {
        for record in history.records { try fold.apply(record) }
        return true
      } catch { return false }
    }
    let legal = draw(History.legal(), 300)
    #expect(legal.allSatisfy(isLegal))
    #expect(legal.contains { $0.records.count == 30 })
    #expect(legal.allSatisfy { $0.records.count <= 30 })
    #expect(draw(History.any(), 300).contains { !isLegal($0) })
    #expect(History.legal()(Choices(replaying: [])).records.isEmpty)
    #expect(History.any()(Choices(replaying: [])).description == "(nothing)")
  }

  @Test("TST-1 STA-6 the model rejects events as the page says")
  func model() {
    var model = SessionModel()
    #expect(model.objection(to: .loggedOut()) == .notAuthenticated)
    model.take(.login(as: "ada", token: 3))
    #expect(model.objection(to: .refreshed(to: 3)) == .staleGeneration)
    model.take(.expired(.inactivity))
    #expect(model.objection(to: .login(as: "bob", token: 4)) == .differentUser)
    #expect(model.objection(to: .login(as: "ada", token: 3)) == .staleGeneration)
    var fold = SessionFold()
    #expect(model.disagreement(with: fold)?.contains("state: model expired") == true)
    model.take(.loggedOut())
    #expect(model.disagreement(with: fold) == "newest token: model 3, fold 0")
    fold = SessionFold()
    #expect(SessionModel().disagreement(with: fold) == nil)
  }
}

@Suite("Given, when, then")
struct GivenTests {
  @Test("TST-1 STA-6 a true story of the fold passes")
  func fold() throws {
    try given(.login(as: "ada"), .expired(.inactivity)).when(.login(as: "bob", token: 2)).then(
      .rejected(.differentUser), .user("ada"), .state(.expired))
    try given(.login(as: "ada", context: .plainTeacher)).when(
      .refreshFailed(.server, of: 1), .refreshFailed(.noReply, of: 1)
    ).then(.failures(2), .token(1), .context(.plainTeacher))
    try given().when(.login(as: "ada"), .loggedOut()).then(.user(nil), .token(nil))
  }

  @Test("TST-1 a false story of the fold reports the differences")
  func foldText() {
    let text = """
      Given  login ada by password, tok#1
             sessionExpired inactivity
      When   login bob by password, tok#2
      Then   the user is bob
      But    the user is ada
             login is not possible while expired: the expired session belongs to another user, \
      whose data must be handled first; log out
             the session is expired ada, inactivity
      """
    let error = #expect(throws: UnexpectedOutcome.self) {
      try given(.login(as: "ada"), .expired(.inactivity)).when(.login(as: "bob", token: 2)).then(
        .user("bob"))
    }
    #expect(error?.description == text)
  }

  @Test("TST-1 an impossible given state is reported")
  func impossible() {
    let error = #expect(throws: UnexpectedOutcome.self) {
      try given(.loggedOut()).when().then(.user(nil))
    }
    #expect(error?.description.contains("But    the given state is impossible") == true)
  }
}

@Suite("TST-1: a session that follows draws")
struct SessionWalkTests {
  @Test("TST-1: every event of a walk is legal, and walks together reach every legal row")
  func legal() {
    expect(
      Property("a walk meets every legal row", requiredLabels: TransitionRow.legal.map(\.label))
        .check { choices in
          var walk = SessionWalk()
          while choices.chance(15, in: 16) {
            let before = walk.events.count
            let event = walk.step(choices)
            try choices.require(
              walk.events.count == before + 1 && walk.events.last?.event == event,
              "\(event.kind) did not happen")
            let disagreement = walk.model.disagreement(with: walk.fold)
            try choices.require(disagreement == nil, disagreement ?? "")
          }
        })
  }

  @Test("TST-1: an illegal event changes nothing and reports its reason")
  func rejected() {
    var walk = SessionWalk()
    #expect(walk.take(.expired(.inactivity))?.reason == .notAuthenticated)
    #expect(walk.events.isEmpty && walk.state == .unauthenticated)
    #expect(walk.take(.login(as: "ada")) == nil)
    #expect(walk.take(.login(as: "bob", token: 2))?.reason == .alreadyAuthenticated)
    #expect(walk.events.map(\.sequence) == [1])
  }

  @Test("TST-1: the model decides which rows are legal, and near events reach both kinds")
  func rows() {
    var seen: Set<TransitionRow> = []
    var rowless = 0
    for seed in 0..<2_000 as Range<UInt64> {
      let choices = Choices(seed: seed)
      var walk = SessionWalk()
      for _ in 0..<choices.draw(in: 0...3) { walk.step(choices) }
      let event = choices.nearEvent(after: walk.model)
      let objection = walk.model.objection(to: event)
      guard let row = TransitionRow(event, after: walk.model) else {
        #expect(objection == .staleGeneration)
        rowless += 1
        continue
      }
      seen.insert(row)
      #expect(row.isLegal == (objection == nil), "\(row)")
      #expect(row.isLegal == (walk.take(event) == nil), "\(row)")
    }
    #expect(seen.isSubset(of: TransitionRow.all))
    #expect(seen.count == TransitionRow.all.count)
    #expect(rowless > 0)
    // A rejection because of a token is not a row that a property can require.
    #expect(TransitionRow(.login(as: "ada", token: 0), after: SessionModel()) == nil)
    #expect(TransitionRow.all.count == 23 && TransitionRow.legal.count == 9)
  }
}
