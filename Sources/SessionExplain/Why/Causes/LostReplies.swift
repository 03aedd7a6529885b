extension CauseFamily {
  /// Ends by a refresh token that was used again, since the response to an earlier request was lost.
  static let lostReplies: [Cause] = [
    .lostReply, .answerNotStored, .answerNotRead, .killedInRefresh, .suspendedInRefresh,
  ]
}

extension Cause {
  package static let lostReply = Cause(
    "lost-reply", .end,
    "Expired: refresh token reused after a lost response",
    .signedOut,
    english: Plain(
      "the server renewed the session, but its response was lost; the app sent the old token "
        + "again, and the server refused it",
      fix: "let the server accept the old token for some seconds"),
    spanish: Plain(
      "el servidor renovó la sesión, pero su respuesta se perdió; la app volvió a enviar el token "
        + "anterior, y el servidor lo rechazó",
      fix: "haz que el servidor acepte el token anterior durante unos segundos"),
    portuguese: Plain(
      "o servidor renovou a sessão, mas a resposta se perdeu; o app enviou de novo o token "
        + "antigo, e o servidor o recusou",
      fix: "faça o servidor aceitar o token antigo por alguns segundos"))
  package static let answerNotStored = Cause(
    "answer-not-stored", .end,
    "Expired: the new token of a refresh could not be stored before the session was closed or its "
      + "process ended",
    .signedOut,
    english: Plain(
      "the server renewed the session, but the device could not save the new token before the app "
        + "closed or was stopped; later the old token was refused",
      fix: "find out from the recorded error why it could not be saved (free space, access "
        + "rights), and let the server accept the old token for some seconds"),
    spanish: Plain(
      "el servidor renovó la sesión, pero el dispositivo no pudo guardar el token nuevo antes de "
        + "que la app se cerrara o se detuviera; después el token anterior fue rechazado",
      fix: "averigua por el error registrado por qué no se pudo guardar (espacio libre, permisos), "
        + "y haz que el servidor acepte el token anterior durante unos segundos"),
    portuguese: Plain(
      "o servidor renovou a sessão, mas o dispositivo não conseguiu salvar o token novo antes de o "
        + "app fechar ou parar; depois o token antigo foi recusado",
      fix: "descubra pelo erro registrado por que não foi possível salvá-lo (espaço livre, "
        + "permissões), e faça o servidor aceitar o token antigo por alguns segundos"))
  package static let answerNotRead = Cause(
    "answer-not-read", .end,
    "Expired: refresh token refused after a response that could not be read",
    .signedOut,
    english: Plain(
      "the server answered a request to renew the session, but the app could not read its "
        + "response; the app sent the old token again, and the server refused it",
      fix: "compare the app's settings for responses with a response of the server, and let the "
        + "server accept the old token for some seconds"),
    spanish: Plain(
      "el servidor respondió a una petición de renovar la sesión, pero la app no pudo leer la "
        + "respuesta; la app volvió a enviar el token anterior, y el servidor lo rechazó",
      fix: "compara la configuración de la app para las respuestas con una respuesta del servidor, "
        + "y haz que el servidor acepte el token anterior durante unos segundos"),
    portuguese: Plain(
      "o servidor respondeu a uma requisição para renovar a sessão, mas o app não conseguiu ler a "
        + "resposta; o app enviou de novo o token antigo, e o servidor o recusou",
      fix: "compare a configuração do app para as respostas com uma resposta do servidor, e faça o "
        + "servidor aceitar o token antigo por alguns segundos"))
  package static let killedInRefresh = Cause(
    "killed-in-refresh", .end,
    "Expired: a process ended during a refresh",
    .signedOut,
    english: Plain(
      "one part of the app was stopped while it renewed the session; the server's response was "
        + "lost, and the old token was refused",
      fix: "let the server accept the old token for some seconds, and let the app finish its "
        + "requests before it stops"),
    spanish: Plain(
      "una parte de la app se detuvo mientras renovaba la sesión; la respuesta del servidor se "
        + "perdió, y el token anterior fue rechazado",
      fix: "haz que el servidor acepte el token anterior durante unos segundos, y que la app "
        + "termine sus peticiones antes de detenerse"),
    portuguese: Plain(
      "uma parte do app parou enquanto renovava a sessão; a resposta do servidor se perdeu, e o "
        + "token antigo foi recusado",
      fix: "faça o servidor aceitar o token antigo por alguns segundos, e o app terminar as suas "
        + "requisições antes de parar"))
  package static let suspendedInRefresh = Cause(
    "suspended-in-refresh", .end,
    "Expired: a process was suspended during a refresh, and another could not continue",
    .signedOut,
    english: Plain(
      "the system paused one part of the app while it renewed the session; the server's response "
        + "was lost, and the old token was refused",
      fix: "let the server accept the old token for some seconds"),
    spanish: Plain(
      "el sistema pausó una parte de la app mientras renovaba la sesión; la respuesta del "
        + "servidor se perdió, y el token anterior fue rechazado",
      fix: "haz que el servidor acepte el token anterior durante unos segundos"),
    portuguese: Plain(
      "o sistema pausou uma parte do app enquanto ela renovava a sessão; a resposta do servidor "
        + "se perdeu, e o token antigo foi recusado",
      fix: "faça o servidor aceitar o token antigo por alguns segundos"))
}
