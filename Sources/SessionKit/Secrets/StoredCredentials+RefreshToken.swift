@_spi(Internals) import SessionCore
import SessionJournal

/// The refresh token, in the token item or apart from it.
///
/// - Requirement: STO-2
extension StoredCredentials {
  /// The refresh token that belongs to a token, wherever it lies; `nil` where there is none, also where it
  /// is gone because what is enrolled on the device has changed.
  ///
  /// Throws `unavailable` for as long as the user has to show who they are.
  func refreshToken(of token: StoredToken) throws(SecretStoreError) -> Secret? {
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

  /// The token with its refresh token in it, as far as that can be read now: what revoking it needs.
  func whole(_ token: StoredToken) -> StoredToken {
    guard token.refresh == nil, token.fields.refreshPlace != nil else { return token }
    var fields = token.fields
    do throws(SecretStoreError) {
      fields.refresh = try refreshToken(of: token)?.plaintext
    } catch {
      // The server is told with the access token alone.
    }
    return StoredToken(journal: token.journal, fields: fields)
  }

  /// Stores the refresh token apart, where the store wants that and there is one to be stored; says what
  /// the token item holds of it.
  func place(
    _ answer: TokenResponse, of generation: Generation, replacing old: StoredToken?
  ) throws(SessionError) -> (refresh: Secret?, place: RefreshPlace?) {
    let refresh = answer.refresh ?? old?.refresh
    let known = old?.fields.refreshPlace ?? answer.refreshPlace
    // Kept where it is: to move it would need the user.
    guard let refresh else {
      if known == nil, store.separatesRefreshToken {
        do throws(SecretStoreError) { try store.remove(.refreshToken) } catch {
          throw .secrets(error)
        }
      }
      return (nil, known)
    }
    // In the item it counts before any other; the place says that another may still be there.
    guard store.separatesRefreshToken else { return (refresh, known) }
    let place = RefreshPlace(journal: journal.description, generation: generation.number)
    try write(
      StoredRefreshToken(
        journal: place.journal,
        fields: StoredRefreshToken.Fields(
          generation: place.generation, refresh: refresh.plaintext)))
    return (nil, place)
  }

  /// Removes a refresh token that was kept apart before the store stopped doing that.
  func tidy(_ token: StoredToken) {
    guard token.refresh != nil, token.fields.refreshPlace != nil else { return }
    do throws(SecretStoreError) { try store.remove(.refreshToken) } catch {
      // Of no use to anybody; it goes with the next token, or the session.
    }
  }
}
