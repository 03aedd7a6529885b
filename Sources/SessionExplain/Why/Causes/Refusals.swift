extension CauseFamily {
  /// Ends by a refresh that the server refused, or that had no refresh token.
  static let refusals: [Cause] = [
    .usedElsewhere, .revokedElsewhere, .refreshTokenExpired, .unusedTooLong, .unknownToServer,
    .refused, .otherUser,
    .noRefreshToken,
  ]
}

extension Cause {
  package static let usedElsewhere = Cause(
    "used-elsewhere", .end,
    "Expired: the refresh token was used already, and not by this journal",
    .signedOut,
    english: Plain(
      "the server says that the token was already used, and this device has no record of such a "
        + "use",
      fix: "look up the token's uses in the server's log; if one is not the user's, end the user's "
        + "other sessions; keep the token on one device only (no backup, no copy)"),
    spanish: Plain(
      "el servidor dice que el token ya se había usado, y este dispositivo no tiene registro de "
        + "ese uso",
      fix: "busca los usos del token en el registro del servidor; si alguno no es del usuario, "
        + "termina sus otras sesiones; guarda el token en un solo dispositivo (sin copias de "
        + "seguridad)"),
    portuguese: Plain(
      "o servidor diz que o token já tinha sido usado, e este dispositivo não tem registro desse "
        + "uso",
      fix: "procure os usos do token no log do servidor; se algum não for do usuário, encerre as "
        + "outras sessões dele; mantenha o token em um só dispositivo (sem backup, sem cópia)"))
  package static let revokedElsewhere = Cause(
    "revoked-elsewhere", .end,
    "Expired: the server says that the session was revoked",
    .signedOut,
    english: Plain(
      "the server says that the session was revoked",
      fix: "find out at the server who or what revoked it"),
    spanish: Plain(
      "el servidor dice que la sesión fue revocada",
      fix: "averigua en el servidor quién o qué la revocó"),
    portuguese: Plain(
      "o servidor diz que a sessão foi revogada",
      fix: "descubra no servidor quem ou o que a revogou"))
  package static let refreshTokenExpired = Cause(
    "refresh-token-expired", .end,
    "Expired: the server says that the refresh token has expired",
    .signedOut,
    english: Plain(
      "the server says that the token that renews the session has expired",
      fix: "sign in again; let such tokens live longer at the server, or renew the session more "
        + "often"),
    spanish: Plain(
      "el servidor dice que el token que renueva la sesión ha caducado",
      fix: "vuelve a iniciar sesión; haz que esos tokens duren más en el servidor, o renueva la "
        + "sesión más a menudo"),
    portuguese: Plain(
      "o servidor diz que o token que renova a sessão expirou",
      fix: "entre de novo; faça esses tokens durarem mais no servidor, ou renove a sessão com "
        + "mais frequência"))
  package static let unusedTooLong = Cause(
    "unused-too-long", .end,
    "Expired: the session was not refreshed for longer than the server keeps its refresh token",
    .signedOut,
    english: Plain(
      "the session was not renewed for longer than the server allows",
      fix:
        "sign in again; let refresh tokens live longer at the server, or renew the session in the "
        + "background"),
    spanish: Plain(
      "la sesión no se renovó durante más tiempo del que permite el servidor",
      fix: "vuelve a iniciar sesión; haz que los tokens de renovación duren más en el servidor, o "
        + "renueva la sesión en segundo plano"),
    portuguese: Plain(
      "a sessão ficou sem renovação por mais tempo do que o servidor permite",
      fix:
        "entre de novo; faça os tokens de renovação durarem mais no servidor, ou renove a sessão "
        + "em segundo plano"))
  package static let unknownToServer = Cause(
    "unknown-to-server", .end,
    "Expired: the server does not know the refresh token",
    .signedOut,
    english: Plain(
      "the server does not know the token that renews the session",
      fix: "check that the app talks to the server at which the user signed in, and that this "
        + "server lost no data"),
    spanish: Plain(
      "el servidor no conoce el token que renueva la sesión",
      fix: "comprueba que la app habla con el servidor en el que el usuario inició sesión, y que "
        + "ese servidor no perdió datos"),
    portuguese: Plain(
      "o servidor não conhece o token que renova a sessão",
      fix: "verifique se o app fala com o servidor em que o usuário entrou, e se esse servidor "
        + "não perdeu dados"))
  package static let refused = Cause(
    "refused", .end,
    "Expired: the server refused to refresh, and {}",
    .signedOut,
    english: Plain(
      "the server refused to renew the session, and why is not known",
      fix: "look at the server's log, ask the server's team what a code means that is shown, and "
        + "let the server send a clear one"),
    spanish: Plain(
      "el servidor se negó a renovar la sesión, y no se sabe por qué",
      fix: "mira el registro del servidor, pregunta a su equipo qué significa el código que se "
        + "muestre, y haz que el servidor envíe uno claro"),
    portuguese: Plain(
      "o servidor se recusou a renovar a sessão, e não se sabe por quê",
      fix: "veja o log do servidor, pergunte à equipe dele o que significa o código que aparecer, "
        + "e faça o servidor enviar um claro"))
  package static let otherUser = Cause(
    "other-user", .end,
    "Expired: the server's response had another user's token",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the server's response named another user than the one who was signed in, so the app ended "
        + "the session",
      fix: "find out at the server why its response named another user"),
    spanish: Plain(
      "la respuesta del servidor nombró a otro usuario que el que tenía la sesión, así que la app "
        + "terminó la sesión",
      fix: "averigua en el servidor por qué su respuesta nombró a otro usuario"),
    portuguese: Plain(
      "a resposta do servidor indicou outro usuário que não o da sessão, por isso o app encerrou "
        + "a sessão",
      fix: "descubra no servidor por que a resposta indicou outro usuário"))
  package static let noRefreshToken = Cause(
    "no-refresh-token", .end,
    "Expired: there was no refresh token to use",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the app had to renew the session and found no token for that on the device",
      fix: "check that the server issues such a token (a refresh token), and that the device "
        + "keeps it"),
    spanish: Plain(
      "la app tenía que renovar la sesión y no encontró en el dispositivo ningún token para "
        + "hacerlo",
      fix: "comprueba que el servidor emite ese token (un refresh token), y que el dispositivo lo "
        + "conserva"),
    portuguese: Plain(
      "o app precisava renovar a sessão e não encontrou no dispositivo nenhum token para isso",
      fix: "verifique se o servidor emite esse token (um refresh token), e se o dispositivo o "
        + "conserva"))
}
