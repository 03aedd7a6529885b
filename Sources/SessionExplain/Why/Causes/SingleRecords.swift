extension CauseFamily {
  /// One record that ended nothing.
  static let singleRecords: [Cause] = [
    .switchRefused, .switchLost, .notRevoked, .revocationDone, .takenOver, .refreshFailed,
    .tokenRecovered, .tailCut, .itemUnreadable, .storageFailed, .leftoversWiped, .journalContinued,
  ]
}

extension Cause {
  package static let switchRefused = Cause(
    "switch-refused", .event,
    "The context switch failed: {}",
    reliesOn: .ownRecords,
    .notSignedOut,
    english: Plain(
      "the change of role, school or unit failed",
      fix: "try the change again; if it fails again, look at the server's log"),
    spanish: Plain(
      "el cambio de rol, escuela o unidad falló",
      fix: "intenta el cambio de nuevo; si vuelve a fallar, mira el registro del servidor"),
    portuguese: Plain(
      "a troca de papel, escola ou unidade falhou",
      fix: "tente a troca de novo; se falhar outra vez, veja o log do servidor"))
  /// The server rejected the switch, so another attempt does not help.
  package static let switchRejected = switchRefused.worded(
    english: Plain(
      "the server refused the change of role, school or unit",
      fix: "check what the user may change to"),
    spanish: Plain(
      "el servidor rechazó el cambio de rol, escuela o unidad",
      fix: "comprueba a qué puede cambiar el usuario"),
    portuguese: Plain(
      "o servidor recusou a troca de papel, escola ou unidade",
      fix: "verifique para o que o usuário pode trocar"))
  package static let switchLost = Cause(
    "switch-lost", .event,
    "The context switch got no response",
    .notSignedOut,
    english: Plain(
      "the request to change role, school or unit got no response, so the server may or may not "
        + "have done it",
      fix: "try the change again"),
    spanish: Plain(
      "la petición de cambiar de rol, escuela o unidad no tuvo respuesta; el servidor pudo "
        + "hacerlo o no",
      fix: "intenta el cambio de nuevo"),
    portuguese: Plain(
      "a requisição para trocar de papel, escola ou unidade não teve resposta; o servidor pode "
        + "ter feito a troca ou não",
      fix: "tente a troca de novo"))
  package static let notRevoked = Cause(
    "not-revoked", .event,
    "Logged out here; the server does not know",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the app closed the session on this device, but the server has not confirmed its end",
      fix: "open the app again; if the session must not live on, end it at the server"),
    spanish: Plain(
      "la app cerró la sesión en este dispositivo, pero el servidor no ha confirmado su final",
      fix: "abre la app de nuevo; si la sesión no debe seguir viva, termínala en el servidor"),
    portuguese: Plain(
      "o app encerrou a sessão neste dispositivo, mas o servidor não confirmou o fim dela",
      fix: "abra o app de novo; se a sessão não deve continuar viva, encerre-a no servidor"))
  package static let revocationDone = Cause(
    "revocation-done", .event,
    "Logged out here, and {}",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the app closed the session on this device, and the server does not accept it any more",
      fix: "nothing to do"),
    spanish: Plain(
      "la app cerró la sesión en este dispositivo, y el servidor ya no la acepta",
      fix: "nada que hacer"),
    portuguese: Plain(
      "o app encerrou a sessão neste dispositivo, e o servidor não a aceita mais",
      fix: "nada a fazer"))
  package static let takenOver = Cause(
    "taken-over", .event,
    "A request was presumed lost by another process; this record ended nothing",
    .notSignedOut,
    english: Plain(
      "another part of the app presumed a request lost and took over",
      fix: "nothing to do"),
    spanish: Plain(
      "otra parte de la app dio una petición por perdida y la asumió",
      fix: "nada que hacer"),
    portuguese: Plain(
      "outra parte do app considerou uma requisição perdida e a assumiu",
      fix: "nada a fazer"))
  package static let refreshFailed = Cause(
    "refresh-failed", .event,
    "A refresh failed; this record ended nothing",
    reliesOn: .ownRecords,
    .notSignedOut,
    english: Plain(
      "one attempt to renew the session failed",
      fix: "nothing to do if a later attempt succeeded"),
    spanish: Plain(
      "un intento de renovar la sesión falló",
      fix: "nada que hacer si un intento posterior tuvo éxito"),
    portuguese: Plain(
      "uma tentativa de renovar a sessão falhou",
      fix: "nada a fazer se uma tentativa posterior teve sucesso"))
  package static let tokenRecovered = Cause(
    "token-recovered", .event,
    "The event of {} was missing; it was restored from what is stored",
    reliesOn: .ownRecords,
    .notSignedOut,
    english: Plain(
      "the record of the newest token was missing, and the app restored it",
      fix: "nothing to do"),
    spanish: Plain(
      "faltaba el registro del token más nuevo, y la app lo restauró",
      fix: "nada que hacer"),
    portuguese: Plain(
      "faltava o registro do token mais novo, e o app o restaurou",
      fix: "nada a fazer"))
  package static let tailCut = Cause(
    "tail-cut", .event,
    "The end of the journal was cut off",
    reliesOn: .ownRecords,
    .notSignedOut,
    english: Plain(
      "the end of the app's records could not be used, and was cut off",
      fix: "nothing to do if it happened once; if it repeats, look for crashes of the app"),
    spanish: Plain(
      "el final de los registros de la app no se podía usar, y se cortó",
      fix: "nada que hacer si ocurrió una vez; si se repite, busca cierres inesperados de la app"),
    portuguese: Plain(
      "o final dos registros do app não podia ser usado, e foi cortado",
      fix: "nada a fazer se aconteceu uma vez; se acontecer de novo, procure falhas do app"))
  package static let itemUnreadable = Cause(
    "item-unreadable", .event,
    "The stored {} could not be read",
    reliesOn: .ownRecords,
    .notSignedOut,
    english: Plain(
      "a saved secret could not be read, and was set aside",
      fix: "send the developers its length and version, never its content"),
    spanish: Plain(
      "no se pudo leer un secreto guardado, y se apartó",
      fix: "envía a los desarrolladores su longitud y versión, nunca su contenido"),
    portuguese: Plain(
      "não foi possível ler um segredo salvo, e ele foi posto de lado",
      fix: "envie aos desenvolvedores o tamanho e a versão dele, nunca o conteúdo"))
  package static let storageFailed = Cause(
    "storage-failed", .event,
    "The secret store failed; this record ended nothing",
    reliesOn: .ownRecords,
    .notSignedOut,
    english: Plain(
      "the place where the device keeps secrets did not work",
      fix: "nothing to do if it happened once; otherwise find out what is wrong at that place: the "
        + "record has the system's reason"),
    spanish: Plain(
      "el lugar en el que el dispositivo guarda secretos no funcionó",
      fix: "nada que hacer si ocurrió una vez; si no, averigua qué falla en ese lugar: el registro "
        + "tiene el motivo del sistema"),
    portuguese: Plain(
      "o lugar em que o dispositivo guarda segredos não funcionou",
      fix: "nada a fazer se aconteceu uma vez; senão, descubra o que há de errado nesse lugar: o "
        + "registro tem o motivo do sistema"))
  package static let leftoversWiped = Cause(
    "leftovers-wiped", .event,
    "Stored secrets that belong to no session were wiped",
    reliesOn: .ownRecords,
    .notSignedOut,
    english: Plain(
      "the app removed saved secrets that belonged to no session",
      fix: "nothing to do"),
    spanish: Plain(
      "la app eliminó secretos guardados que no pertenecían a ninguna sesión",
      fix: "nada que hacer"),
    portuguese: Plain(
      "o app removeu segredos salvos que não pertenciam a nenhuma sessão",
      fix: "nada a fazer"))
  package static let journalContinued = Cause(
    "journal-continued", .event,
    "This journal continues another one",
    reliesOn: .ownRecords,
    .notSignedOut,
    english: Plain(
      "the records of the app go on from an earlier file",
      fix: "check the earlier file if its content matters"),
    spanish: Plain(
      "los registros de la app continúan los de un archivo anterior",
      fix: "comprueba el archivo anterior si su contenido importa"),
    portuguese: Plain(
      "os registros do app continuam os de um arquivo anterior",
      fix: "verifique o arquivo anterior se o conteúdo dele importa"))
}
