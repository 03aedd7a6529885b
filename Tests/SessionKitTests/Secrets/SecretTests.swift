import Foundation
import SessionKit
import Testing

@Suite("Secrets in memory")
struct SecretTests {
  @Test("STO-3 no description of a secret shows it")
  func redacted() {
    let canary = "canary-7f3a"
    let profile = UserProfile(
      id: "u-1", email: canary + "@x.test", firstName: canary, lastName: canary)
    let token = AccessToken(
      Secret(canary), generation: Generation(7), expiresAt: Timestamp(milliseconds: 0))
    let values: [Any] = [
      Secret(canary), token, profile, [Secret(canary)], ["key": Secret(canary)],
      Optional(Secret(canary)) as Any,
      Credential.password(canary, canary),
    ]
    for value in values {
      var text = "\(value) \(String(reflecting: value)) "
      dump(value, to: &text)
      print(value, to: &text)
      debugPrint(value, to: &text)
      #expect(!text.contains(canary))
    }
    #expect(Secret(canary).plaintext == canary)
    #expect(token.description == "tok#7, expires 1970-01-01T00:00:00.000Z")
    #expect(token.expiresAt == Date(timeIntervalSince1970: 0))
    let same = AccessToken(Secret(canary), generation: Generation(7), expiresAt: token.expiresAt)
    #expect(token == same)
  }

  @Test("STO-2 the store in memory reads, refuses and sets aside as a store must")
  func memory() throws {
    let store = MemorySecretStore()
    #expect(try store.read(.token) == nil)
    try store.write(.token, [1])
    store.isAvailable = false
    #expect(throws: SecretStoreError.unavailable(item: .token, place: "memory")) {
      try store.read(.token)
    }
    store.isAvailable = true
    try store.setAside(.token)
    #expect(try store.read(.token) == nil)
    #expect(store.setAsideBytes(.token) == [1])
    #expect(store.items.isEmpty)
  }

  @Test("every error of a store names the place and the next step")
  func sentences() {
    let errors: [SecretStoreError] = [
      .unavailable(item: .token, place: "/p"), .noSpace(item: .user, place: "/p"),
      .obstructed(place: "/p", by: "a folder"), .tooLarge(item: .context, place: "/p", maximum: 9),
      .failed(item: .token, place: "/p", operation: "write", code: 5),
      .noRoomForNext(item: .token, place: "/p", bytes: 5_596),
    ]
    for error in errors {
      #expect("\(error)".contains("/p"))
      #expect("\(error)".hasSuffix("."))
      #expect("\(error)".split(separator: ". ").count >= 2)
    }
  }
}
