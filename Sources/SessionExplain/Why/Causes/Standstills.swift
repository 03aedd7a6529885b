@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Sessions that have not ended, and that no later attempt can renew.
  static let standstills: [Cause] = [
    .stillRefused, .stillSignInDemanded, .stillAppRefused, .stillEndpointMissing, .stillUnreadable,
    .stillBlocked,
  ]
}

extension Cause {
  package static let stillRefused = Cause(
    "still-refused", .still,
    "Still signed in: the server refuses each refresh, and its reason is not known",
    .stillSignedIn,
    english: Plain(
      "the server refuses to renew the session, and its reason is not known here",
      fix: "ask the server's team for the reason, and what the code means if one is shown; waiting "
        + "does not help, but the user can sign in again when the token has expired"),
    spanish: Plain(
      "el servidor se niega a renovar la sesión, y su motivo no se conoce aquí",
      fix: "pregunta el motivo al equipo del servidor, y qué significa el código si se muestra "
        + "uno; esperar no ayuda, pero el usuario puede volver a iniciar sesión cuando el token "
        + "haya caducado"),
    portuguese: Plain(
      "o servidor se recusa a renovar a sessão, e o motivo dele não é conhecido aqui",
      fix: "pergunte o motivo à equipe do servidor, e o que significa o código se houver um; "
        + "esperar não ajuda, mas o usuário pode entrar de novo quando o token tiver expirado"))
  package static let stillSignInDemanded = Cause(
    "still-sign-in-demanded", .still,
    "Still signed in: the server demands a new sign-in, or a further factor, before it refreshes",
    .stillSignedIn,
    english: Plain(
      "the server renews the session only after the user has signed in again, for example with a "
        + "second factor",
      fix:
        "let the user authenticate again, and give what the server asks for; waiting does not help"),
    spanish: Plain(
      "el servidor renueva la sesión solo después de que el usuario vuelva a iniciar sesión, por "
        + "ejemplo con un segundo factor",
      fix:
        "haz que el usuario vuelva a autenticarse, y dé lo que el servidor pide; esperar no ayuda"),
    portuguese: Plain(
      "o servidor só renova a sessão depois que o usuário entrar de novo, por exemplo com um "
        + "segundo fator",
      fix: "deixe o usuário se autenticar de novo, e dar o que o servidor pede; esperar não ajuda"))
  package static let stillAppRefused = Cause(
    "still-app-refused", .still,
    "Still signed in: the server does not accept this app's client",
    .stillSignedIn,
    english: Plain(
      "the server does not accept this app as a client, so it does not renew the session",
      fix: "check the client id, the secret and the method of the app's registration; waiting "
        + "does not help"),
    spanish: Plain(
      "el servidor no acepta esta app como cliente, así que no renueva la sesión",
      fix: "comprueba el id de cliente, el secreto y el método del registro de la app; esperar no "
        + "ayuda"),
    portuguese: Plain(
      "o servidor não aceita este app como cliente, por isso não renova a sessão",
      fix: "verifique o id de cliente, o segredo e o método do registro do app; esperar não ajuda"))
  package static let stillEndpointMissing = Cause(
    "still-endpoint-missing", .still,
    "Still signed in: the address of the refresh responds with {}",
    .stillSignedIn,
    english: Plain(
      "the address at which the app renews the session responds with {}; it may be wrong, or was "
        + "moved",
      fix: "check the address of that request in the app's settings; waiting does not help"),
    spanish: Plain(
      "la dirección en la que la app renueva la sesión responde con {}; puede ser incorrecta, o "
        + "cambió",
      fix: "comprueba la dirección de esa petición en la configuración de la app; esperar no ayuda"),
    portuguese: Plain(
      "o endereço em que o app renova a sessão responde com {}; pode estar errado, ou mudou",
      fix: "verifique o endereço dessa requisição na configuração do app; esperar não ajuda"))
  package static let stillUnreadable = Cause(
    "still-unreadable", .still,
    "Still signed in: the server's responses could not be read",
    .stillSignedIn,
    english: Plain(
      "the app cannot read the server's responses when it renews the session",
      fix: "compare the app's settings for responses with a response of the server; waiting does "
        + "not help, but the user can sign in again when the token has expired"),
    spanish: Plain(
      "la app no puede leer las respuestas del servidor cuando renueva la sesión",
      fix: "compara la configuración de la app para las respuestas con una respuesta del "
        + "servidor; esperar no ayuda, pero el usuario puede volver a iniciar sesión cuando el "
        + "token haya caducado"),
    portuguese: Plain(
      "o app não consegue ler as respostas do servidor quando renova a sessão",
      fix: "compare a configuração do app para as respostas com uma resposta do servidor; esperar "
        + "não ajuda, mas o usuário pode entrar de novo quando o token tiver expirado"))
  package static let stillBlocked = Cause(
    "still-blocked", .still,
    "Still signed in: each refresh is refused with 403",
    .stillSignedIn,
    english: Plain(
      "each attempt to renew the session is refused with 403, possibly by something in front of "
        + "the server, such as a firewall",
      fix: "find out, also in the server's log, what sends the 403, and let the app's request "
        + "pass; waiting does not help, but the user can sign in again when the token has expired"),
    spanish: Plain(
      "cada intento de renovar la sesión se rechaza con 403, quizá por algo delante del servidor, "
        + "como un cortafuegos",
      fix: "averigua, también en el registro del servidor, qué envía el 403, y deja pasar la "
        + "petición de la app; esperar no ayuda, pero el usuario puede volver a iniciar sesión "
        + "cuando el token haya caducado"),
    portuguese: Plain(
      "cada tentativa de renovar a sessão é recusada com 403, talvez por algo na frente do "
        + "servidor, como um firewall",
      fix: "descubra, também no log do servidor, o que envia o 403, e deixe passar a requisição do "
        + "app; esperar não ajuda, mas o usuário pode entrar de novo quando o token tiver expirado")
  )
}
