@_spi(Internals) import SessionCore
import SessionJournal

/// The refresh token, in the token item or in an item of its own.
///
/// - Requirement: STO-2
extension StoredCredentials {
  /// Returns the refresh token of a token, from either place; `nil` if there is none.
  ///
  /// It is also `nil` if the system removed it, because the enrolled faces or fingers of the device
  /// have changed.
  ///
  /// Throws `unavailable` until the user has proven their presence.
  func refreshToken(of token: StoredToken) throws(SecretStoreError) -> Secret? {
    // It is not kept in memory after a login either: the protection would begin with the next
    // process. The library never asks the user. It reads in a context that shows nothing, and the
    // app unlocks.
    if let refresh = token.refresh { return refresh }
    guard token.fields.refreshPlace != nil, let bytes = try store.read(.refreshToken) else {
      return nil
    }
    do throws(StoredItemError) {
      let stored = try StoredRefreshToken(decoding: bytes)
      return stored.belongs(to: token) ? Secret(stored.fields.refresh) : nil
    } catch .newerVersion(let item, let found) {
      throw .newerVersion(item: item, found: found)
    } catch {
      try store.setAside(.refreshToken)
      return nil
    }
  }

  /// Returns the token together with its refresh token, if that can be read now.
  ///
  /// A revocation needs both.
  func whole(_ token: StoredToken) -> StoredToken {
    guard token.refresh == nil, token.fields.refreshPlace != nil else { return token }
    var fields = token.fields
    do throws(SecretStoreError) {
      fields.refresh = try refreshToken(of: token)?.plaintext
    } catch {
      // The server is then informed with the access token alone.
    }
    return StoredToken(journal: token.journal, fields: fields)
  }

  /// Stores the refresh token in an item of its own, if the store requires it and there is a new
  /// one.
  ///
  /// Returns what the token item contains of it.
  func place(
    _ answer: TokenResponse, of generation: Generation, replacing old: StoredToken?
  ) throws(SessionError) -> (refresh: Secret?, place: RefreshPlace?) {
    let refresh = answer.refresh ?? old?.refresh
    let known = old?.fields.refreshPlace ?? answer.refreshPlace
    // The refresh token stays where it is, since moving it would require the user's presence.
    guard let refresh else {
      if known == nil, store.separatesRefreshToken {
        do throws(SecretStoreError) { try store.remove(.refreshToken) } catch {
          throw .secrets(error)
        }
      }
      return (nil, known)
    }
    // A refresh token in the token item counts before any other. The place records that another one
    // may still exist.
    guard store.separatesRefreshToken else { return (refresh, known) }
    // The refresh token is written before the token item. If the process ends between the two, the
    // server accepts only the newer one, and it is there. In the other order it would be lost, and
    // the session with it. It is removed before the token item, since that records that it exists.
    let place = RefreshPlace(journal: owner, generation: generation.number)
    try write(
      StoredRefreshToken(
        journal: place.journal,
        fields: StoredRefreshToken.Fields(
          generation: place.generation, refresh: refresh.plaintext)))
    return (nil, place)
  }

  /// Removes a separate refresh token after the store stopped separating it.
  func tidy(_ token: StoredToken) {
    guard token.refresh != nil, token.fields.refreshPlace != nil else { return }
    do throws(SecretStoreError) { try store.remove(.refreshToken) } catch {
      // The item is of no use any more. It is removed with the next token, or with the session.
    }
  }
}

/// The refresh token item of a store that keeps it separate from the access token.
///
/// It is stored before its token item, with the same generation. If the process dies in between,
/// the refresh token is newer than the token item. That is the one that the server accepts from
/// then on. A refresh token that is older than the token item says is never used.
///
/// - Requirement: STO-2
struct StoredRefreshToken: StoredItem {
  struct Fields: ItemFields {
    var generation: UInt64 = 0
    var refresh = ""

    mutating func visit(_ pass: inout some ItemPass) {
      pass.field("generation", &generation)
      pass.field("refresh", &refresh)
    }
  }

  static var item: SecretItem { .refreshToken }
  let journal: String
  let fields: Fields

  init(journal: String, fields: Fields) {
    (self.journal, self.fields) = (journal, fields)
  }

  /// Returns whether it is the refresh token of this token, or a newer one of the same session.
  func belongs(to token: StoredToken) -> Bool {
    guard let place = token.fields.refreshPlace else { return false }
    guard journal == place.journal else {
      // The token was taken over from another journal's session. Since then the refresh token was
      // stored again.
      return journal == token.journal
    }
    return fields.generation >= place.generation
  }
}

extension RefreshPlace: ItemFields {
  mutating func visit(_ pass: inout some ItemPass) {
    pass.field("generation", &generation)
    pass.field("journal", &journal)
  }
}

extension StoredRefreshToken: CustomReflectable, CustomStringConvertible {
  var description: String { "stored refresh token of \(Generation(fields.generation))" }
  var customMirror: Mirror { Mirror(self, children: ["generation": fields.generation]) }
}
