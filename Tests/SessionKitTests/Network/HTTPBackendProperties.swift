import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Properties of the HTTP backend")
struct HTTPBackendProperties {
  private static let credentials = Credential.password(Choices.canary, Choices.canary)

  /// The outcomes of all readers, each with the text that its error shows.
  private func outcomes(_ wire: HTTPBackend, _ response: HTTPResponse) -> [(
    name: String, shown: String?
  )] {
    func outcome(_ read: () throws(AnswerFailure) -> Void) -> String? {
      do throws(AnswerFailure) {
        try read()
        return nil
      } catch {
        var dumped = ""
        dump(error, to: &dumped)
        return "\(error) \(error.problem ?? "") \(dumped)"
      }
    }
    return [
      (
        "login",
        outcome { () throws(AnswerFailure) in
          _ = try wire.readLogin(response, to: Self.credentials)
        }
      ), ("refresh", outcome { () throws(AnswerFailure) in _ = try wire.readRefresh(response) }),
      ("switch", outcome { () throws(AnswerFailure) in _ = try wire.readSwitch(response) }),
      ("profile", outcome { () throws(AnswerFailure) in _ = try wire.readProfile(response) }),
      ("revocation", outcome { () throws(AnswerFailure) in try wire.readRevocation(response) }),
      ("call", wire.failure(.call, response).map(\.description)),
    ]
  }

  @Test(
    "STO-3 LOG-3 POL-4 any response under any configuration is read or refused, and never shown")
  func answers() {
    expect(
      Property(
        "no answer traps, and no error shows what it holds",
        cases: Sweep("answers", takingOneOf: 12).cases(of: 4_000),
        // The random responses are sometimes read and sometimes refused, at every step.
        requiredLabels: ["login", "refresh", "switch", "profile", "revocation", "call"]
          .flatMap { ["\($0) read", "\($0) refused"] },
        regressions: RegressionFolder()
      ).check { choices in
        let (wire, response) = (choices.wire(), choices.response())
        choices.step(
          "\(wire.response), status \(response.status): "
            + String(decoding: response.body, as: UTF8.self))
        for (name, shown) in outcomes(wire, response) {
          choices.label(shown == nil ? "\(name) read" : "\(name) refused")
          try require(shown?.contains(Choices.canary) != true) { "\(name) shows \(shown ?? "")" }
        }
      })
  }

  @Test("STO-3 REF-4 POL-4 no request shows a secret in its address or its description")
  func requests() {
    let (access, refresh) = (Secret("Access-\(Choices.canary)"), Secret(Choices.canary))
    expect(
      Property(
        "no request shows or addresses a secret",
        cases: Sweep("requests", takingOneOf: 12).cases(of: 2_000), regressions: RegressionFolder()
      ).check { choices in
        let wire = choices.wire()
        let requests = [
          wire.loginRequest(Self.credentials), wire.refresh(refresh), wire.profile(access: access),
          wire.switchContext(ContextTarget(role: "r"), access: access),
          wire.revoke(access: access, refresh: choices.chance(1, in: 2) ? refresh : nil),
        ]
        for request in requests.compactMap(\.self) {
          var dumped = ""
          dump(request, to: &dumped)
          for text in ["\(request)", dumped, request.url.absoluteString, "\(wire)"] {
            try require(!text.contains(Choices.canary)) { text }
          }
        }
        let own = wire.refresh(refresh)?.headers.filter { $0.isNamed("Authorization") } ?? []
        try require(own.count <= 1) { "\(own.count) Authorizations" }
      })
  }

  private func require(_ isTrue: Bool, _ problem: () -> String) throws(Falsified) {
    if !isTrue { throw Falsified(problem()) }
  }
}
