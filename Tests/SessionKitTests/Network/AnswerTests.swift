import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Responses")
struct AnswerTests {
  typealias Place = BackendBench.Place

  @Test("LOG-4 STA-5 REF-8 every member of a login's response is read")
  func login() throws {
    let body = BackendBench.object(Place.login.members)
    let answer = try BackendBench.wire.readLogin(
      BackendBench.response(
        headers: [HTTPHeader("Date", "Sun, 06 Nov 1994 08:49:37 GMT")], body))
    #expect(answer.access.plaintext == LoopbackToken.make(claims: BackendBench.claims))
    #expect(answer.refresh == Secret("rt_next"))
    #expect(answer.lifetimeMilliseconds == 3_600_000)
    #expect(answer.tokenID == "token-1")
    #expect(answer.user?.id == "user-1")
    #expect(answer.user?.email == "maria.sample@school.test")
    #expect(answer.user?.firstName == "María")
    #expect(answer.user?.lastName == "Sample")
    #expect(
      answer.context
        == ActiveContext(
          role: .init(id: "role-1", name: "teacher"),
          school: .init(id: "school-1", name: "North School"),
          unit: .init(id: "unit-1", name: "5th, A"),
          permissions: ["materials:read", "materials:write"]))
    #expect(answer.tokenContext?.role == .init(id: "claimed", name: "teacher"))
    #expect(answer.serverTime == Timestamp("1994-11-06T08:49:37Z"))
  }

  @Test("STA-5 without a context object, only the claim gives the context")
  func claimedContext() throws {
    var members = Place.login.members
    members["active_context"] = nil
    let answer = try BackendBench.wire.readLogin(
      BackendBench.response(BackendBench.object(members)))
    #expect(answer.context == nil)
    #expect(answer.tokenContext?.role.id == "claimed")
  }

  @Test("REF-5 a refresh's response may lack refresh token, user and context")
  func refresh() throws {
    var members = Place.refresh.members
    members["refresh_token"] = nil
    let answer = try BackendBench.wire.readRefresh(
      BackendBench.response(BackendBench.object(members)))
    #expect(answer.refresh == nil)
    #expect(answer.user == nil)
    #expect(answer.context == nil)
    #expect(answer.serverTime == nil)
  }

  @Test("CTX-1 a switch's response has its context under another name")
  func switched() throws {
    let body = BackendBench.object(Place.switched.members)
    #expect(
      try BackendBench.wire.readSwitch(BackendBench.response(body)).context?.role.id == "role-1")
    #expect(try BackendBench.wire.readRefresh(BackendBench.response(body)).context == nil)
  }

  @Test(
    "LOG-4 a lifetime is rounded to whole milliseconds",
    arguments: [("0.001", 1), ("0.0006", 1), ("1.5", 1500), ("60", 60_000), ("1e3", 1_000_000)])
  func lifetime(text: String, milliseconds: Int64) throws {
    var members = Place.refresh.members
    members["expires_in"] = text
    let answer = try BackendBench.wire.readRefresh(
      BackendBench.response(BackendBench.object(members)))
    #expect(answer.lifetimeMilliseconds == milliseconds)
  }

  @Test("LOG-3 a body of 1 MiB is read, and one byte more is refused")
  func longBody() {
    let body = BackendBench.object(Place.login.members)
    let padding = String(repeating: " ", count: (1 << 20) - body.utf8.count)
    #expect(Place.login.failure(status: 200, body + padding) == nil)
    #expect(
      Place.login.failure(status: 200, body + padding + " ")?.problem
        == "the body is longer than 1 MiB")
    #expect(Place.login.failure(status: 503, body + padding + " ")?.failure.kind == .server)
  }

  @Test("STO-3 an error code that looks like a token is not kept, and its status still counts")
  func codeLikeToken() throws {
    for code in [
      "rt_aB3dE6gH9", "9f8a3c51d2e7", "hunter", String(repeating: "A", count: 49), "ein Wort", "é",
      "",
    ] {
      let body = #"{"error":{"code":"\#(code)","message":"m"}}"#
      let found = try #require(Place.refresh.failure(status: 401, body))
      let kept = code.isEmpty ? nil : RequestFailure.codeNotKept
      #expect(
        found.failure == RequestFailure(kind: .rejected, status: 401, serverCode: kept), "\(code)")
    }
  }

  @Test("OUT-1 a revocation succeeds with 2xx and 401, and fails otherwise", arguments: 100...599)
  func revocation(status: Int) {
    var found: AnswerFailure?
    do throws(AnswerFailure) {
      try BackendBench.wire.readRevocation(BackendBench.response(status: status, ""))
    } catch {
      found = error
    }
    let isDone = (200...299).contains(status) || status == 401
    #expect((found == nil) == isDone)
    #expect(isDone || found?.failure.status == UInt16(status))
  }

  @Test("LOG-3 a response with one wrong byte is read or refused, and never shown")
  func spoiled() {
    let good = Array(BackendBench.object(Place.login.members).utf8)
    let secrets = ["rt_next", "maria", "eyJ", "Sample"]
    for index in good.indices {
      for byte in [UInt8(ascii: "\""), UInt8(ascii: "{"), 0x00, 0xFF] {
        var body = good
        body[index] = byte
        do throws(AnswerFailure) {
          _ = try BackendBench.wire.readLogin(HTTPResponse(status: 200, body: body))
        } catch {
          #expect(error.failure.kind == .unreadable)
          #expect(!secrets.contains { "\(error)".contains($0) })
        }
      }
      let cut = HTTPResponse(status: 200, body: Array(good[..<index]))
      #expect(throws: AnswerFailure.self) { try BackendBench.wire.readLogin(cut) }
      let lost = #expect(throws: AnswerFailure.self) { try BackendBench.wire.readRefresh(cut) }
      #expect(lost?.failure.kind == .noReply)
    }
  }
}
