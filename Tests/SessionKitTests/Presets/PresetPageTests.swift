import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Specs/Presets.md")
struct PresetPageTests {
  static let names = [
    "snakeCaseJSON", "azureADB2C", "OFF", "TIK", "camelCaseJSON", "oauth", "SimpleJWT",
  ]
  static let apps = ["EDU", "B2C", "OFF", "TIK", "API", "OAuth 2.0", "SimpleJWT"]
  let page = PresetPage()

  @Test("POL-4 the page has one section for each preset")
  func sections() {
    #expect(page.names == Self.names)
  }

  @Test(
    "POL-4 LOG-3 LOG-5 REF-4 CTX-1 OUT-1 the page shows each preset's requests to the byte",
    arguments: names)
  func requests(name: String) throws {
    let backend = try #require(PresetPage.backend(name))
    let shown = try #require(page.block("http", of: name))
    #expect(PresetPage.requests(backend) == shown)
  }

  @Test("POL-4 LOG-3 LOG-7 REF-5 STA-4 STA-5 each preset reads the responses as the page says")
  func answers() throws {
    let rows = page.rows(["preset", "at", "status", "answer", "read"])
    #expect(Set(rows.map { $0[0] }) == Set(Self.names))
    for row in rows {
      let wire = try #require(PresetPage.backend(row[0]))
      #expect(try read(wire, row) == row[4], "\(row)")
    }
  }

  @Test(
    "POL-4 LOG-3 REF-6 INT-3 OUT-1 the answers of real servers are read as Specs/Answers.md says")
  func servers() throws {
    let rows = SpecPage("Answers.md").rows(["server", "at", "status", "answer", "read"])
    #expect(rows.count >= 18)
    for row in rows {
      let backend = try #require(PresetPage.knownServer(row[0]), "\(row)")
      let found = try read(backend, row)
      #expect(found == row[4], "\(row)")
    }
  }

  private func read(_ wire: HTTPBackend, _ row: [String]) throws -> String {
    let response = HTTPResponse(
      status: try #require(Int(row[2])),
      headers: [HTTPHeader("Date", "Sun, 06 Nov 1994 08:49:37 GMT")],
      body: Array(PresetPage.answer(row[3]).utf8))
    do throws(AnswerFailure) {
      switch row[1] {
      case "login":
        return PresetPage.words(try wire.readLogin(response, to: PresetPage.credentials))
      case "register":
        let answer = try wire.readRegistration(response, of: PresetPage.account)
        return answer.map(PresetPage.words) ?? "account created"
      case "social": return PresetPage.words(try wire.readSocial(response))
      case "refresh": return PresetPage.words(try wire.readRefresh(response))
      case "switch": return PresetPage.words(try wire.readSwitch(response))
      case "profile":
        let user = try wire.readProfile(response)
        return "user \(user.id)" + (user.email.map { ", \($0)" } ?? "")
      case "call": return wire.failure(.call, response)?.description ?? "fine"
      case "revocation":
        try wire.readRevocation(response)
        return "done"
      default: return "no such step"
      }
    } catch {
      return error.description
    }
  }

  @Test("POL-1 POL-2 POL-3 POL-6 REF-12 RES-1 LOG-1 the page shows the policy of each app")
  func policies() throws {
    let rows = page.rows([
      "preset", "threshold", "attempts", "first delay", "launch", "asked", "refused",
      "exhausted", "credentials", "required",
    ])
    #expect(rows.map { $0[0] } == Self.apps)
    for row in rows {
      let policy = try #require(PresetPage.policy(row[0]))
      let figures = PolicyFigures(policy)
      let credentials =
        switch policy.limits.credentials {
        case .none: "any"
        case .emailAndPassword(let length): "e-mail, \(length)"
        }
      let exhausted =
        switch policy.ending.onExhaustion {
        case .stay: "stay"
        case .end(let end): "\(end)"
        case .endAfterExpiry(let end): "endAfterExpiry \(end)"
        }
      let threshold =
        figures.refreshThreshold.map { "\($0 / 1000) s" } ?? "none"
      #expect(figures.onRefusedToken == .end)
      #expect(
        row == [
          row[0], threshold, "\(figures.maximumAttempts)",
          "\(figures.firstRetryDelay) ms", "\(figures.launchRefresh)", "\(figures.profileCheck)",
          "\(figures.onRejection)",
          exhausted, credentials,
          figures.requiredItems.map(\.description).sorted().joined(separator: ", "),
        ])
    }
  }
}
