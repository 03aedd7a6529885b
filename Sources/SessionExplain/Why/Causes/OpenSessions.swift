extension CauseFamily {
  /// A session that has not ended, or no session.
  static let openSessions: [Cause] = [
    .stillOffline, .stillIntercepted, .stillServerFailing, .stillSecretsLocked, .stillRequestOpen,
    .stillSignedIn, .stillCallNeedsUser, .stillLocked, .neverSignedIn, .endedBefore,
    .journalReplaced,
    .stillErrorPage,
  ]
}

extension Cause {
  package static let stillOffline = Cause(
    "still-offline", .still,
    "Still signed in: {} failed, without a response that counts",
    .stillSignedIn,
    english: Plain(
      "{} to renew the session got no response that counts, as happens if the device is offline or "
        + "the server cannot be reached",
      fix: "check the connection and the server, then open the app; no new sign-in is needed"),
    spanish: Plain(
      "renovar la sesión no obtuvo ninguna respuesta que cuente ({}), como ocurre si el "
        + "dispositivo no tiene conexión o no se alcanza el servidor",
      fix: "comprueba la conexión y el servidor, y después abre la app; no hace falta volver a "
        + "iniciar sesión"),
    portuguese: Plain(
      "renovar a sessão não obteve nenhuma resposta que conte ({}), como acontece se o dispositivo "
        + "está sem conexão ou o servidor não é alcançado",
      fix: "verifique a conexão e o servidor, e depois abra o app; não é preciso entrar de novo"))
  /// Nothing was sent, since no refresh token could be read.
  package static let nothingToSend = stillOffline.worded(
    english: Plain(
      "the app found no token on the device with which it can renew the session",
      fix: "check that the server issues such a token (a refresh token), and find out why the "
        + "device does not have it"),
    spanish: Plain(
      "la app no encontró en el dispositivo ningún token con el que renovar la sesión",
      fix: "comprueba que el servidor emite ese token (un refresh token), y averigua por qué el "
        + "dispositivo no lo tiene"),
    portuguese: Plain(
      "o app não encontrou no dispositivo nenhum token para renovar a sessão",
      fix: "verifique se o servidor emite esse token (um refresh token), e descubra por que o "
        + "dispositivo não o tem"))
  /// The processes of several requests in a row did not come back.
  package static let endedInRefreshes = stillOffline.worded(
    english: Plain(
      "the app seems to have ended more than once while it renewed the session, possibly because "
        + "of the server's response",
      fix: "look for crash reports of the app; no new sign-in is needed"),
    spanish: Plain(
      "la app parece haber terminado más de una vez mientras renovaba la sesión, quizá por la "
        + "respuesta del servidor",
      fix: "busca informes de fallos de la app; no hace falta volver a iniciar sesión"),
    portuguese: Plain(
      "o app parece ter terminado mais de uma vez enquanto renovava a sessão, talvez por causa da "
        + "resposta do servidor",
      fix: "procure relatórios de falhas do app; não é preciso entrar de novo"))
  package static let stillCallNeedsUser = Cause(
    "still-call-needs-user", .still,
    "Still signed in: the server takes a call only after the user has authenticated again",
    .stillSignedIn,
    english: Plain(
      "the server asks the user to authenticate again before it takes a certain call",
      fix: "let the user authenticate again as the server asks; other calls go on meanwhile"),
    spanish: Plain(
      "el servidor pide que el usuario vuelva a autenticarse antes de aceptar cierta llamada",
      fix: "haz que el usuario vuelva a autenticarse como pide el servidor; las demás llamadas "
        + "siguen entretanto"),
    portuguese: Plain(
      "o servidor pede que o usuário se autentique de novo antes de aceitar certa chamada",
      fix: "deixe o usuário se autenticar de novo como o servidor pede; as outras chamadas "
        + "continuam enquanto isso"))
  package static let stillLocked = Cause(
    "still-locked", .still, "Still signed in: the app is locked since {}", .stillSignedIn,
    english: Plain(
      "the app is locked, and gives no token until its user unlocks it",
      fix: "let the user unlock the app; no new sign-in is needed"),
    spanish: Plain(
      "la app está bloqueada y no entrega ningún token hasta que el usuario la desbloquee",
      fix: "haz que el usuario desbloquee la app; no hace falta volver a iniciar sesión"),
    portuguese: Plain(
      "o app está bloqueado e não entrega nenhum token até que o usuário o desbloqueie",
      fix: "deixe o usuário desbloquear o app; não é preciso entrar de novo"))
  package static let stillIntercepted = Cause(
    "still-intercepted", .still,
    "Still signed in: a web page or the like came in place of a response",
    .stillSignedIn,
    english: Plain(
      "a web page or the like came in place of a response, as a Wi-Fi sign-in or a proxy sends it",
      fix: "sign in to the network, then open the app; if it happens in other networks too, check "
        + "the app's address of the server, and the server"),
    spanish: Plain(
      "llegó una página web o algo parecido en lugar de una respuesta, como la envía el acceso de "
        + "una red Wi-Fi o un proxy",
      fix: "inicia sesión en la red y después abre la app; si ocurre también en otras redes, "
        + "comprueba la dirección del servidor en la app, y el servidor"),
    portuguese: Plain(
      "veio uma página web ou algo parecido no lugar de uma resposta, como a envia o acesso de uma "
        + "rede Wi-Fi ou um proxy",
      fix: "entre na rede e depois abra o app; se acontecer também em outras redes, verifique o "
        + "endereço do servidor no app, e o servidor"))
  package static let stillServerFailing = Cause(
    "still-server-failing", .still,
    "Still signed in: the server responded to {} with a failure",
    .stillSignedIn,
    english: Plain(
      "the server responded with an error to {} to renew the session",
      fix: "let the server's team repair it; then open the app: it asks the server again at once"),
    spanish: Plain(
      "el servidor respondió con un error al renovar la sesión ({})",
      fix: "haz que el equipo del servidor lo repare; después abre la app: vuelve a preguntar al "
        + "servidor enseguida"),
    portuguese: Plain(
      "o servidor respondeu com um erro ao renovar a sessão ({})",
      fix: "faça a equipe do servidor repará-lo; depois abra o app: ele consulta o servidor de "
        + "novo imediatamente"))
  package static let stillSecretsLocked = Cause(
    "still-secrets-locked", .still,
    "Still signed in: the stored secrets could not be read yet",
    .stillSignedIn,
    english: Plain(
      "the saved secrets could not be read yet, as happens before a device is first unlocked",
      fix: "unlock the device once, then open the app"),
    spanish: Plain(
      "los secretos guardados aún no se podían leer, como ocurre antes del primer desbloqueo de "
        + "un dispositivo",
      fix: "desbloquea el dispositivo una vez y después abre la app"),
    portuguese: Plain(
      "os segredos salvos ainda não podiam ser lidos, como acontece antes do primeiro desbloqueio "
        + "de um dispositivo",
      fix: "desbloqueie o dispositivo uma vez e depois abra o app"))
  package static let stillRequestOpen = Cause(
    "still-request-open", .still,
    "Still signed in: a request has no known end yet",
    .stillSignedIn,
    english: Plain(
      "the app asked the server to renew the session, and the outcome is not known yet",
      fix: "open the app again: it settles the open request"),
    spanish: Plain(
      "la app pidió al servidor renovar la sesión, y todavía no se conoce el resultado",
      fix: "abre la app de nuevo: resuelve la petición abierta"),
    portuguese: Plain(
      "o app pediu ao servidor para renovar a sessão, e o resultado ainda não é conhecido",
      fix: "abra o app de novo: ele resolve a requisição aberta"))
  package static let stillSignedIn = Cause(
    "still-signed-in", .still,
    "Nothing ended: signed in since {}",
    .stillSignedIn,
    english: Plain(
      "nothing has ended the session",
      fix: "nothing to do"),
    spanish: Plain(
      "nada ha terminado la sesión",
      fix: "nada que hacer"),
    portuguese: Plain(
      "nada encerrou a sessão",
      fix: "nada a fazer"))
  package static let neverSignedIn = Cause(
    "never-signed-in", .still,
    "No user has signed in",
    .nobody,
    english: Plain(
      "no sign-in was recorded on this device",
      fix: "nothing to do here; the app records no sign-in that failed"),
    spanish: Plain(
      "no se registró ningún inicio de sesión en este dispositivo",
      fix: "nada que hacer aquí; la app no registra los inicios de sesión fallidos"),
    portuguese: Plain(
      "nenhuma entrada foi registrada neste dispositivo",
      fix: "nada a fazer aqui; o app não registra entradas que falharam"))
  package static let endedBefore = Cause(
    "ended-before", .still,
    "The session ended before the first record of this journal",
    .nobody,
    english: Plain(
      "the session ended before the oldest record that is kept",
      fix: "look for an older copy of the file if the reason matters"),
    spanish: Plain(
      "la sesión terminó antes del registro más antiguo que se conserva",
      fix: "busca una copia más antigua del archivo si el motivo importa"),
    portuguese: Plain(
      "a sessão terminou antes do registro mais antigo que foi mantido",
      fix: "procure uma cópia mais antiga do arquivo se o motivo importa"))
  package static let journalReplaced = Cause(
    "journal-replaced", .still,
    "No user is signed in: the stored secrets belonged to another journal, and were wiped",
    .nobody,
    english: Plain(
      "the secrets on this device belonged to records that are not here, so the app removed them",
      fix: "sign in again; keep the app's session files and its secrets together: both or none"),
    spanish: Plain(
      "los secretos de este dispositivo pertenecían a registros que no están aquí, así que la app "
        + "los eliminó",
      fix: "vuelve a iniciar sesión; conserva juntos los archivos y los secretos de la sesión: "
        + "ambos o ninguno"),
    portuguese: Plain(
      "os segredos deste dispositivo pertenciam a registros que não estão aqui, então o app os "
        + "removeu",
      fix: "entre de novo; mantenha juntos os arquivos e os segredos da sessão: ambos ou nenhum"))
  package static let stillErrorPage = Cause(
    "still-error-page", .still,
    "Still signed in: a web page with status {} came in place of a response",
    .stillSignedIn,
    english: Plain(
      "an error page came in place of a response, from the server itself or from a gateway in "
        + "front of it (status {})",
      fix: "look at the server and its gateway; the app asks again by itself"),
    spanish: Plain(
      "llegó una página de error en lugar de una respuesta, del propio servidor o de una pasarela "
        + "delante de él (estado {})",
      fix: "revisa el servidor y su pasarela; la app vuelve a preguntar por sí sola"),
    portuguese: Plain(
      "veio uma página de erro no lugar de uma resposta, do próprio servidor ou de um gateway na "
        + "frente dele (status {})",
      fix: "verifique o servidor e o seu gateway; o app pergunta de novo sozinho"))
}
