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
      } catch {
        return false
      }
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
