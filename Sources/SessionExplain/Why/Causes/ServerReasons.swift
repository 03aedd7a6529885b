@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends by a refresh that the server refused with a code that states the reason.
  static let serverReasons: [Cause] = [
    .passwordChanged, .endedByAdministrator, .sessionLimit, .allSessionsEnded, .signInDemanded,
  ]
}

extension Cause {
  package static let passwordChanged = Cause(
    "password-changed", .end,
    "Expired: the server says that the user's password was changed",
    .signedOut,
    english: Plain(
      "the server ended the session because the user's password was changed",
      fix: "sign in again with the new password"),
    spanish: Plain(
      "el servidor terminó la sesión porque se cambió la contraseña del usuario",
      fix: "vuelve a iniciar sesión con la contraseña nueva"),
    portuguese: Plain(
      "o servidor encerrou a sessão porque a senha do usuário foi trocada",
      fix: "entre de novo com a senha nova"))
  package static let endedByAdministrator = Cause(
    "ended-by-administrator", .end,
    "Expired: the server says that an administrator ended the session",
    .signedOut,
    english: Plain(
      "the server says that an administrator ended the session",
      fix: "ask the server's administrators why, then sign in again"),
    spanish: Plain(
      "el servidor dice que un administrador terminó la sesión",
      fix: "pregunta a los administradores del servidor por qué, y después vuelve a iniciar sesión"),
    portuguese: Plain(
      "o servidor diz que um administrador encerrou a sessão",
      fix: "pergunte aos administradores do servidor por quê, e depois entre de novo"))
  package static let sessionLimit = Cause(
    "session-limit", .end,
    "Expired: the server says that a newer session of the user took this one's place",
    .signedOut,
    english: Plain(
      "the server limits how many sessions a user has, and a newer one took this one's place",
      fix: "sign in again; if the limit is too low, allow more sessions for each user at the "
        + "server"),
    spanish: Plain(
      "el servidor limita cuántas sesiones tiene un usuario, y una más nueva ocupó el lugar de "
        + "esta",
      fix: "vuelve a iniciar sesión; si el límite es muy bajo, permite más sesiones por usuario "
        + "en el servidor"),
    portuguese: Plain(
      "o servidor limita quantas sessões um usuário tem, e uma mais nova ocupou o lugar desta",
      fix: "entre de novo; se o limite for baixo demais, permita mais sessões por usuário no "
        + "servidor"))
  package static let allSessionsEnded = Cause(
    "all-sessions-ended", .end,
    "Expired: the server says that all sessions of the user were ended",
    .signedOut,
    english: Plain(
      "the server says that all sessions of the user were ended",
      fix: "sign in again; if the user did not ask for it, find out at the server who or what did"),
    spanish: Plain(
      "el servidor dice que se terminaron todas las sesiones del usuario",
      fix: "vuelve a iniciar sesión; si el usuario no lo pidió, averigua en el servidor quién o "
        + "qué lo hizo"),
    portuguese: Plain(
      "o servidor diz que todas as sessões do usuário foram encerradas",
      fix: "entre de novo; se o usuário não pediu, descubra no servidor quem ou o que fez isso"))
  package static let signInDemanded = Cause(
    "sign-in-demanded", .end,
    "Expired: the server demands a new sign-in, or a further factor",
    .signedOut,
    english: Plain(
      "the server demands that the user signs in again, for example with a second factor",
      fix: "sign in again, and give what the server asks for"),
    spanish: Plain(
      "el servidor exige que el usuario vuelva a iniciar sesión, por ejemplo con un segundo factor",
      fix: "vuelve a iniciar sesión, y da lo que el servidor pide"),
    portuguese: Plain(
      "o servidor exige que o usuário entre de novo, por exemplo com um segundo fator",
      fix: "entre de novo, e dê o que o servidor pede"))
}

extension ServerReason {
  var cause: Cause {
    switch self {
    case .passwordChanged, .perhapsPassword: .passwordChanged
    case .administrator: .endedByAdministrator
    case .sessionLimit: .sessionLimit
    case .allSessions: .allSessionsEnded
    case .signIn: .signInDemanded
    }
  }
}

extension ExplanationDraft {
  /// Explains a refusal whose code states the reason.
  mutating func explainStated(_ reason: ServerReason, _ refusal: Fact) {
    conclude(reason.cause, reason == .perhapsPassword ? .possible : .proven)
    showCode(refusal.failure)
    switch reason {
    case .passwordChanged: advise(.newPassword)
    case .perhapsPassword:
      maybe(.passwordChanged, .administrator, .signedOutElsewhere)
      advise(.newPassword)
      advise(.lookWhoEnded)
    case .administrator: advise(.lookWhoEnded)
    case .sessionLimit: advise(.allowSessions)
    case .allSessions:
      maybe(.signedOutElsewhere, .passwordChanged, .administrator, .otherSignIn)
      advise(.lookWhoEnded)
    case .signIn: advise(.giveFactor)
    }
  }
}
