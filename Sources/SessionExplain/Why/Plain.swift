package import SessionCore

/// What happened and what to do, for a reader who has never seen this project.
package struct Plain: Hashable, Sendable {
  /// The clauses after the colon, without a period; `{}` is replaced by a value of the headline.
  package let story: String
  /// The next step for the engineer or the user.
  package let fix: String

  init(_ story: String, fix: String) { (self.story, self.fix) = (story, fix) }
}

/// What the user experienced.
package enum Experience: CaseIterable, Sendable {
  case signedOut, signedOutByApp, stillSignedIn, nobody, notSignedOut

  /// The first words of a summary.
  package func text(in language: SessionLanguage) -> String {
    switch (self, language) {
    case (.signedOut, .english): "Signed out"
    case (.signedOut, .spanish): "Sesión cerrada"
    case (.signedOut, .portuguese): "Sessão encerrada"
    case (.signedOutByApp, .english): "Signed out by the app"
    case (.signedOutByApp, .spanish): "Sesión cerrada por la app"
    case (.signedOutByApp, .portuguese): "Sessão encerrada pelo app"
    case (.stillSignedIn, .english): "Still signed in"
    case (.stillSignedIn, .spanish): "La sesión sigue abierta"
    case (.stillSignedIn, .portuguese): "A sessão continua aberta"
    case (.nobody, .english): "Nobody is signed in"
    case (.nobody, .spanish): "No hay ninguna sesión abierta"
    case (.nobody, .portuguese): "Não há nenhuma sessão aberta"
    case (.notSignedOut, .english): "Not signed out by this"
    case (.notSignedOut, .spanish): "Esto no cerró la sesión"
    case (.notSignedOut, .portuguese): "Isto não encerrou a sessão"
    }
  }
}

extension Certainty {
  /// The word after the experience; `nil` for a proven cause.
  func hedge(in language: SessionLanguage) -> String? {
    switch (self, language) {
    case (.proven, _): nil
    case (.likely, .english): "probably"
    case (.likely, .spanish): "probablemente"
    case (.likely, .portuguese): "provavelmente"
    case (.possible, .english): "possibly"
    case (.possible, .spanish): "posiblemente"
    case (.possible, .portuguese): "possivelmente"
    }
  }
}

/// Something that the records rule out, in plain words.
///
/// The order of the cases is the order in a summary.
enum Excluded: String, CaseIterable {
  case userAction = "user action"
  case clock = "device clock"
  case storage = "storage"
  case network = "network"
  case lostResponse = "lost reply"
  case crash = "death of the process"
  case refusal = "refusal"
  case otherProcess = "another process"
  case lifetime = "local expiry"

  /// The most that a summary names.
  static let most = 4

  /// Returns the noun.
  ///
  /// No record shows that the user did nothing elsewhere, such as at the server.
  func noun(in language: SessionLanguage) -> String {
    switch (self, language) {
    case (.userAction, .english): "a sign-out in the app"
    case (.userAction, .spanish): "un cierre de sesión en la app"
    case (.userAction, .portuguese): "um encerramento no app"
    case (.clock, .english): "the clock"
    case (.clock, .spanish): "el reloj"
    case (.clock, .portuguese): "o relógio"
    case (.storage, .english): "storage"
    case (.storage, .spanish): "el almacenamiento"
    case (.storage, .portuguese): "o armazenamento"
    case (.network, .english): "the network"
    case (.network, .spanish): "la red"
    case (.network, .portuguese): "a rede"
    case (.lostResponse, .english): "a lost response"
    case (.lostResponse, .spanish): "una respuesta perdida"
    case (.lostResponse, .portuguese): "uma resposta perdida"
    case (.crash, .english): "a crash"
    case (.crash, .spanish): "un cierre inesperado"
    case (.crash, .portuguese): "uma falha do app"
    case (.refusal, .english): "a refused token"
    case (.refusal, .spanish): "un token rechazado"
    case (.refusal, .portuguese): "um token recusado"
    case (.otherProcess, .english): "another part of the app"
    case (.otherProcess, .spanish): "otra parte de la app"
    case (.otherProcess, .portuguese): "outra parte do app"
    case (.lifetime, .english): "the token's lifetime"
    case (.lifetime, .spanish): "la duración del token"
    case (.lifetime, .portuguese): "a duração do token"
    }
  }

  /// Returns the sentence that excludes the nouns, which are at least one.
  static func sentence(_ nouns: [String], in language: SessionLanguage) -> String {
    let (first, next) =
      switch language {
      case .english: ("Not ", ", not ")
      case .spanish: ("No fue ", ", ni ")
      case .portuguese: ("Não foi ", ", nem ")
      }
    return first + nouns.joined(separator: next) + "."
  }
}
